package lockers_test

import (
	"fmt"
	"sync"

	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/locks/lockers"
	"github.com/orwl/go-orwl/net/mem"
	"github.com/orwl/go-orwl/net/topology"
)

// A program that has goroutines and no ranks uses a lock as it would a
// sync.Mutex.
func ExampleNew() {
	f, err := mem.New(mem.Options{Topology: topology.Flat(8)})
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
	mu, err := lockers.New(lock, f) // was: var mu sync.Mutex
	if err != nil {
		fmt.Println(err)
		return
	}
	count := 0
	var all sync.WaitGroup
	for range 100 {
		all.Go(func() {
			mu.Lock()
			defer mu.Unlock()
			count++
		})
	}
	all.Wait()
	fmt.Println(count)
	// Output: 100
}

// The same for a sync.RWMutex.
func ExampleNewRW() {
	f, err := mem.New(mem.Options{Topology: topology.Flat(8)})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer f.Close()
	spec, _ := locks.ByName("RMA-RW")
	lock, err := spec.New(f, locks.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	mu, err := lockers.NewRW(lock, f) // was: var mu sync.RWMutex
	if err != nil {
		fmt.Println(err)
		return
	}
	population := map[string]int{"Berlin": 3_700_000}
	var all sync.WaitGroup
	all.Go(func() {
		mu.Lock()
		defer mu.Unlock()
		population["Paris"] = 2_100_000
	})
	all.Go(func() {
		mu.RLock()
		defer mu.RUnlock()
		fmt.Println(population["Berlin"])
	})
	all.Wait()
	// Output: 3700000
}
