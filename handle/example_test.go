package handle_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/orwl/go-orwl/handle"
	"github.com/orwl/go-orwl/resource"
)

// A handle announces an access and acquires it after other work.
func ExampleHandle() {
	ctx := context.Background()
	r, _ := resource.New("squares", 4*8)
	var w handle.Handle
	w.Request(r, resource.Write)
	// ... other work
	w.Acquire(ctx)
	s, err := handle.Write[float64](&w)
	if err != nil {
		fmt.Println(err)
		return
	}
	for i := range s {
		s[i] = float64(i * i)
	}
	w.Release()

	var h handle.Handle
	h.Request(r, resource.Read)
	h.Acquire(ctx)
	v, err := handle.Read[float64](&h)
	fmt.Println(v.At(3), v.Len(), err)
	h.Release()
	_, err = handle.Read[float64](&h)
	fmt.Println(err)
	// Output:
	// 9 4 <nil>
	// resource: map of "squares" (read): not acquired: acquire it first
}

// Pairs take turns for ever, in the order of their first requests.
func ExamplePair() {
	ctx := context.Background()
	r, _ := resource.New("word", 8)
	var ping, pong handle.Pair
	ping.Request(r, resource.Write)
	pong.Request(r, resource.Write)
	var all sync.WaitGroup
	for name, p := range map[string]*handle.Pair{"ping": &ping, "pong": &pong} {
		all.Go(func() {
			for turn := range 3 {
				p.Acquire(ctx)
				fmt.Println(name, turn)
				p.Next()
			}
			p.Cancel()
		})
	}
	all.Wait()
	// Output:
	// ping 0
	// pong 0
	// ping 1
	// pong 1
	// ping 2
	// pong 2
}

// A vector holds the accesses of one step: two neighbours to read, and their sum to write.
func ExampleVector() {
	ctx := context.Background()
	north, _ := resource.New("north", 8)
	south, _ := resource.New("south", 8)
	here, _ := resource.New("here", 8)
	set := func(r *resource.Resource, x float64) {
		var h handle.Handle
		h.Request(r, resource.Write)
		h.Acquire(ctx)
		defer h.Release()
		s, _ := handle.Write[float64](&h)
		s[0] = x
	}
	set(north, 3)
	set(south, 4)

	var n, s, w handle.Handle
	all := handle.Vector{&n, &s, &w}
	err := errors.Join(
		all.Request(handle.ToRead(north), handle.ToRead(south), handle.ToWrite(here)),
		all.Acquire(ctx))
	if err != nil {
		fmt.Println(err)
		return
	}
	neighbours, _ := handle.ReadAll[float64](all[:2])
	sum, _ := handle.Write[float64](&w)
	sum[0] = neighbours[0].At(0) + neighbours[1].At(0)
	fmt.Println(sum[0], all.Next())
	// Output: 7 <nil>
}

// Prefetch tells what an announcement has gained.
func ExampleHandle_Announce() {
	ctx := context.Background()
	r, _ := resource.New("r", 1024)
	now := time.Unix(0, 0)
	clock := func() time.Time { return now }
	var busy, h handle.Handle
	busy.Request(r, resource.Write)
	busy.Acquire(ctx)

	h.Announce(r, resource.Read, clock)
	now = now.Add(3 * time.Second) // other work
	busy.Release()
	now = now.Add(time.Second)
	h.Acquire(ctx)
	p := h.Prefetch()
	fmt.Printf("waited %v instead of %v\n", p.Waited, p.Waited+p.Saved)
	h.Release()
	// Output: waited 0s instead of 3s
}
