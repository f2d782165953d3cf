package locks_test

import (
	"context"
	"fmt"
	"sync"

	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/net/mem"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/topology"
)

// eachRank runs body for every rank of a fabric, in goroutines of this process.
func eachRank(f rma.Fabric, body func(w rma.Window)) {
	var ranks sync.WaitGroup
	for p := range rma.Rank(f.Topology().Ranks()) {
		ranks.Go(func() {
			w, err := f.Window(p)
			if err != nil {
				panic(err)
			}
			body(w)
		})
	}
	ranks.Wait()
}

// Every rank gets its side of a lock by At.
func Example() {
	f, err := mem.New(mem.Options{Topology: topology.Flat(4)})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer f.Close()
	spec, _ := locks.ByName("MCS")
	lock, err := spec.New(f, locks.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	count := 0
	eachRank(f, func(w rma.Window) {
		m := lock.At(w)
		for range 1000 {
			if err := m.Acquire(context.Background()); err != nil {
				return
			}
			count++
			m.Release()
		}
	})
	fmt.Println(count)
	// Output: 4000
}

// A cohort lock for a machine of two nodes: a ticket lock among the nodes, and
// inside each an MCS lock, which passes the ticket on at most 20 times in a row.
func ExampleByName() {
	machine, err := topology.Parse("node:2 core:2")
	if err != nil {
		fmt.Println(err)
		return
	}
	f, err := mem.New(mem.Options{Topology: machine})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer f.Close()
	spec, ok := locks.ByName("C-TKT-MCS")
	if !ok {
		fmt.Println("no such lock")
		return
	}
	lock, err := spec.New(f, locks.Options{TL: []int{1, 20}})
	if err != nil {
		fmt.Println(err)
		return
	}
	count := 0
	eachRank(f, func(w rma.Window) {
		m := lock.At(w)
		if err := m.Acquire(context.Background()); err != nil {
			return
		}
		defer m.Release()
		count++
	})
	fmt.Println(count, spec.Kind)
	// Output: 4 exclusive
}

// Readers share, writers do not.
func ExampleRWMutex() {
	f, err := mem.New(mem.Options{Topology: topology.Flat(2)})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer f.Close()
	spec, _ := locks.ByName("RMA-RW")
	lock, err := spec.New(f, locks.Options{TDC: 1}) // a counter at each rank
	if err != nil {
		fmt.Println(err)
		return
	}
	w, _ := f.Window(0)
	m := lock.At(w).(locks.RWMutex)
	other, _ := f.Window(1)
	n := lock.At(other).(locks.RWMutex)

	ctx := context.Background()
	fmt.Println(m.AcquireRead(ctx), n.AcquireRead(ctx))
	m.ReleaseRead()
	n.ReleaseRead()
	fmt.Println(m.Acquire(ctx))
	if _, ok := n.(locks.ReadTryer); ok {
		fmt.Println(n.(locks.ReadTryer).TryAcquireRead())
	}
	m.Release()
	// Output:
	// <nil> <nil>
	// <nil>
	// false
}
