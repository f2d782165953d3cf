package rma_test

import (
	"context"
	"fmt"
	"sync"

	"github.com/orwl/go-orwl/net/mem"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/topology"
)

// everyRank runs body for each rank of a fabric, in goroutines of this process.
func everyRank(f rma.Fabric, body func(w rma.Window) error) error {
	var ranks sync.WaitGroup
	errs := make([]error, f.Topology().Ranks())
	for p := range errs {
		ranks.Go(func() {
			w, err := f.Window(rma.Rank(p))
			if err == nil {
				err = body(w)
			}
			errs[p] = err
		})
	}
	ranks.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// A message: the data, a flush, and only then the flag for which the receiver
// waits.
func Example() {
	f, err := mem.New(mem.Options{Topology: topology.Flat(2)})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer f.Close()
	data, _ := f.Alloc(1)
	flag, _ := f.Alloc(1)

	err = everyRank(f, func(w rma.Window) error {
		if w.Rank() == 0 {
			w.Put(1, data, 42)
			w.Flush(1)
			w.Put(1, flag, 1)
			w.Flush(1)
			return nil
		}
		if _, err := w.Await(context.Background(), 1, flag, rma.Is(1)); err != nil {
			return err
		}
		fmt.Println(w.Get(1, data))
		return nil
	})
	fmt.Println(err)
	// Output:
	// 42
	// <nil>
}
