package queue_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"sync"

	"github.com/orwl/go-orwl/internal/queue"
)

// Two accounts, and many goroutines that move money between them, each with a place in
// both queues. All request the accounts in the same order, so no cycle of waiting can
// arise.
func Example() {
	ctx := context.Background()
	mine, _ := queue.New("mine", 8)
	yours, _ := queue.New("yours", 8)
	move := func(amount uint64) error {
		var from, to queue.Place
		if err := from.Request(mine, queue.Write); err != nil {
			return err
		}
		if err := from.Acquire(ctx); err != nil {
			return err
		}
		defer from.Release()
		if err := to.Request(yours, queue.Write); err != nil {
			return err
		}
		if err := to.Acquire(ctx); err != nil {
			return err
		}
		defer to.Release()
		a, _ := from.Writable()
		b, _ := to.Writable()
		binary.LittleEndian.PutUint64(a, binary.LittleEndian.Uint64(a)-amount)
		binary.LittleEndian.PutUint64(b, binary.LittleEndian.Uint64(b)+amount)
		return nil
	}
	balance := func(r *queue.Resource) uint64 {
		var p queue.Place
		p.Request(r, queue.Write)
		p.Acquire(ctx)
		defer p.Release()
		b, _ := p.Writable()
		if p.Version() == 0 {
			binary.LittleEndian.PutUint64(b, 1000)
		}
		return binary.LittleEndian.Uint64(b)
	}
	fmt.Println(balance(mine), balance(yours))
	var all sync.WaitGroup
	for range 10 {
		all.Go(func() {
			for range 5 {
				if err := move(2); err != nil {
					fmt.Println(err)
				}
			}
		})
	}
	all.Wait()
	fmt.Println(balance(mine), balance(yours))
	// Output:
	// 1000 1000
	// 900 1100
}

// A task that requests early does something else meanwhile.
func ExamplePlace_Notify() {
	ctx := context.Background()
	r, _ := queue.New("r", 0)
	var writer, reader queue.Place
	writer.Request(r, queue.Write)
	reader.Request(r, queue.Read)
	reader.Notify(func() { fmt.Println("it is the reader's turn") })
	writer.Acquire(ctx)
	fmt.Println("granted:", reader.Granted())
	writer.Release()
	fmt.Println("granted:", reader.Granted())
	reader.Acquire(ctx)
	reader.Release()
	// Output:
	// granted: false
	// it is the reader's turn
	// granted: true
}

// Misuse is an error that tells what to do.
func ExamplePlaceError() {
	r, _ := queue.New("grid", 16)
	var p queue.Place
	p.Request(r, queue.Read)
	fmt.Println(p.Release())
	p.Acquire(context.Background())
	_, err := p.Writable()
	fmt.Println(err)
	// Output:
	// resource: release of "grid" (read): not acquired: acquire it first
	// resource: map of "grid" (read): held for reading: request it for writing
}
