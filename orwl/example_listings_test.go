package orwl_test

import (
	"context"
	"fmt"
	"log"
	"math"
	"sync"

	"github.com/orwl/go-orwl/handle"
	"github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/orwl"
	"github.com/orwl/go-orwl/resource"
)

// The listings of the paper that has the model (section 3), in their order. The paper
// says location for a resource, handle2 for a pair, truncate for resize, and map for
// Read and Write. The paper's C checks no error; must stands for the check.

// must ends the program for an error.
func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// location is a resource of the listings, words long.
func location(words int) *resource.Resource {
	loc, err := queue.New("loc", 8*words)
	must(err)
	return (*resource.Resource)(loc)
}

// Listing 1: simple exclusive protection of a resource.
func Example_listing1() {
	ctx := context.Background()
	loc := location(0)
	var h handle.Handle

	must(h.Request(loc, resource.Write)) // announce future access
	fmt.Println("some operation without the resource")
	must(h.Acquire(ctx)) // block until granted
	fmt.Println("some critical operation with the resource")
	must(h.Release()) // free the resource

	// Output:
	// some operation without the resource
	// some critical operation with the resource
}

// Listing 2: adapted protection. Another task produces the resource meanwhile.
func Example_listing2() {
	ctx := context.Background()
	loc := location(0)
	var h, producer handle.Handle
	must(producer.Request(loc, resource.Write))
	must(producer.Acquire(ctx))

	must(h.Request(loc, resource.Read))  // announce future read
	for piece := 1; !h.Test(); piece++ { // check if produced
		fmt.Println("another operation while the resource is produced")
		if piece == 2 {
			must(producer.Release())
		}
	}
	must(h.Acquire(ctx)) // block until granted
	fmt.Println("some operation while the resource is stable")
	must(h.Release()) // free the resource

	// Output:
	// another operation while the resource is produced
	// another operation while the resource is produced
	// some operation while the resource is stable
}

// Listing 3: associate data and initialise it.
func Example_listing3() {
	ctx := context.Background()
	loc := location(168)
	var h handle.Handle

	must(h.Request(loc, resource.Write)) // reserve the resource for maintenance
	must(h.Acquire(ctx))
	data, err := handle.Write[uint64](&h) // the data in our address space
	must(err)
	fmt.Println(len(data), data[167]) // check the size; zero at first
	for i := range data {             // special initialisation
		data[i] = uint64(i)
	}
	must(h.Release()) // free the resource; data is no longer valid

	// Output:
	// 168 0
}

// Listing 4: modify the data.
func Example_listing4() {
	ctx := context.Background()
	loc := location(4)
	var h handle.Handle
	initialise(loc, 10, 20, 30, 40)

	must(h.Request(loc, resource.Write)) // reserve the resource for modification
	must(h.Acquire(ctx))
	data, err := handle.Write[uint64](&h) // the data in our address space
	must(err)
	for i := range data { // with exclusive access
		data[i] *= uint64(i)
	}
	fmt.Println(data)
	must(h.Release()) // free the resource; data is no longer valid

	// Output:
	// [0 20 60 120]
}

// Listing 5: access the associated data.
func Example_listing5() {
	ctx := context.Background()
	loc := location(3)
	var h handle.Handle
	initialise(loc, 7, 8, 9)

	must(h.Request(loc, resource.Read)) // reserve the resource for reading
	must(h.Acquire(ctx))
	data, err := handle.Read[uint64](&h) // the data in our address space
	must(err)
	for i, x := range data.All() { // while the resource is stable
		fmt.Println("item", i, "is", x)
	}
	must(h.Release()) // free the resource; data is no longer valid

	// Output:
	// item 0 is 7
	// item 1 is 8
	// item 2 is 9
}

// initialise is listing 3, for the examples that need data.
func initialise(loc *resource.Resource, values ...uint64) {
	must(orwl.Fill(context.Background(), loc, func(data []uint64) { copy(data, values) }))
}

// Listing 6: a simple iterative procedure with one resource and one pair, here for two
// tasks that take turns.
func Example_listing6() {
	ctx := context.Background()
	loc := location(0)
	names := []string{"ping", "pong"}
	pairs := make([]handle.Pair, len(names))
	for i := range pairs {
		must(pairs[i].Request(loc, resource.Write)) // bind the pair
	}

	var all sync.WaitGroup
	for i, name := range names {
		p := &pairs[i]
		all.Go(func() {
			for range 2 { // until some event
				must(p.Acquire(ctx)) // block until our turn comes
				fmt.Println(name)    // work exclusively with the resource
				must(p.Next())       // insert ourselves in the queue, pass control
			}
			must(p.Cancel()) // withdraw from the queue
		})
	}
	all.Wait()

	// Output:
	// ping
	// pong
	// ping
	// pong
}

// Listing 7: an iterative procedure with two resources and two pairs. Each process
// owns a resource, here, and inspects a neighbour's, there.
func Example_listing7() {
	ctx := context.Background()
	const processes, rounds = 3, 60
	var resources [processes]*resource.Resource
	var here, there [processes]handle.Pair
	for i := range resources {
		resources[i] = location(2)
		initialise(resources[i], math.Float64bits(float64(i)), math.Float64bits(float64(10*i)))
	}
	for i := range processes { // bind the pairs, in one order for all
		must(here[i].Request(resources[i], resource.Write))
		must(there[i].Request(resources[(i+1)%processes], resource.Read))
	}

	var all sync.WaitGroup
	for i := range processes {
		here, there := &here[i], &there[i]
		all.Go(func() {
			for range rounds { // until some event
				must(here.Acquire(ctx)) // block twice
				must(there.Acquire(ctx))
				mine, err := handle.Write[float64](here) // exclusive
				must(err)
				theirs, err := handle.Read[float64](there) // inclusive
				must(err)
				for i, x := range theirs.All() { // application code: average
					mine[i] = (mine[i] + x) / 2
				}
				must(here.Next()) // insert ourselves in the queues, pass control
				must(there.Next())
			}
			must(here.Cancel()) // withdraw from the queues
			must(there.Cancel())
		})
	}
	all.Wait()

	for i, r := range resources {
		var h handle.Handle
		must(h.Request(r, resource.Read))
		must(h.Acquire(ctx))
		v, err := handle.Read[float64](&h)
		must(err)
		fmt.Printf("%d: %.3f %.3f\n", i, v.At(0), v.At(1))
		must(h.Release())
	}

	// Output:
	// 0: 1.200 12.000
	// 1: 1.200 12.000
	// 2: 1.200 12.000
}
