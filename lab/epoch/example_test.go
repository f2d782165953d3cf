package epoch_test

import (
	"context"
	"fmt"

	"github.com/orwl/go-orwl/lab/epoch"
	"github.com/orwl/go-orwl/net/mem"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/rmatest"
	"github.com/orwl/go-orwl/net/topology"
)

// everyRank runs body for each rank of a fabric, in a goroutine of its own.
func everyRank(f rma.Fabric, body rmatest.Body) error {
	c := rmatest.Case{Setup: func(rma.Fabric) (rmatest.Body, error) { return body, nil }}
	return rmatest.Execute(context.Background(), f, c)
}

// Each rank puts a word into the memory of every rank. After the fence it sees the
// words of all ranks.
func ExampleSync_Fence() {
	const ranks = 4
	f, err := mem.New(mem.Options{Topology: topology.Flat(ranks)})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer f.Close()
	table, _ := f.Alloc(ranks)
	epochs, _ := epoch.New(f, epoch.Options{})

	err = everyRank(f, func(ctx context.Context, w rma.Window) error {
		e, me := epochs.At(w), w.Rank()
		for q := range rma.Rank(ranks) {
			w.Put(q, table+rma.Disp(me), uint64(me)*10)
		}
		if err := e.Fence(ctx); err != nil {
			return err
		}
		if me == 2 {
			for q := range rma.Disp(ranks) {
				fmt.Println(w.Get(me, table+q))
			}
		}
		return nil
	})
	fmt.Println(err)
	// Output:
	// 0
	// 10
	// 20
	// 30
	// <nil>
}

// Each rank puts a word into the memory of the next one. Only neighbours wait for
// each other.
func ExampleSync_Post() {
	const ranks = 3
	f, err := mem.New(mem.Options{Topology: topology.Flat(ranks)})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer f.Close()
	halo, _ := f.Alloc(1)
	epochs, _ := epoch.New(f, epoch.Options{Neighbours: 1})

	err = everyRank(f, func(ctx context.Context, w rma.Window) error {
		e, me := epochs.At(w), w.Rank()
		next, previous := (me+1)%ranks, (me+ranks-1)%ranks
		if err := e.Post(ctx, []rma.Rank{previous}); err != nil {
			return err
		}
		if err := e.Start(ctx, []rma.Rank{next}); err != nil {
			return err
		}
		w.Put(next, halo, uint64(me))
		if err := e.Complete(); err != nil {
			return err
		}
		if err := e.Wait(ctx); err != nil {
			return err
		}
		if me == 0 {
			fmt.Println("rank 0 was given", w.Get(me, halo))
		}
		return nil
	})
	fmt.Println(err)
	// Output:
	// rank 0 was given 2
	// <nil>
}

// Each rank increments a counter by a Get and a Put, inside a lock. Unlock flushes.
func ExampleSync_Lock() {
	const ranks = 8
	f, err := mem.New(mem.Options{Topology: topology.Flat(ranks)})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer f.Close()
	counter, _ := f.Alloc(1)
	epochs, _ := epoch.New(f, epoch.Options{})

	err = everyRank(f, func(ctx context.Context, w rma.Window) error {
		e := epochs.At(w)
		if err := e.Lock(ctx, 5, epoch.Exclusive); err != nil {
			return err
		}
		w.Put(5, counter, w.Get(5, counter)+1)
		return e.Unlock(5)
	})
	w, _ := f.Window(0)
	fmt.Println(w.Get(5, counter), err)
	// Output:
	// 8 <nil>
}

// Each rank shows a slice that it owns to all others.
func ExampleExposure_Expose() {
	const ranks = 2
	f, err := mem.New(mem.Options{Topology: topology.Flat(ranks)})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer f.Close()
	epochs, _ := epoch.New(f, epoch.Options{})
	exposure, _ := epoch.NewExposure(f)

	err = everyRank(f, func(ctx context.Context, w rma.Window) error {
		e, me := epochs.At(w), w.Rank()
		mine := make([]uint64, 1+me)
		t, err := exposure.Expose(ctx, e, mine)
		if err != nil {
			return err
		}
		other := 1 - me
		last := t.Base(other) + rma.Disp(t.Words(other)-1)
		w.Put(other, last, 7)
		if err := t.Withdraw(ctx); err != nil {
			return err
		}
		if me == 1 {
			fmt.Println(mine)
		}
		return nil
	})
	fmt.Println(err)
	// Output:
	// [0 7]
	// <nil>
}
