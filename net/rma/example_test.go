package rma_test

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/orwl/go-orwl/net/mem"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/topology"
)

// everyRank runs body for each rank of a fabric, in a goroutine of its own.
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
	return errors.Join(errs...)
}

// Rank 0 sends a message: first the data, then a flush, then the flag. Rank 1
// waits for the flag.
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
