//go:build linux

package shm_test

import (
	"context"
	"fmt"
	"log"

	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/shm"
	"github.com/orwl/go-orwl/net/topology"
)

// Two fabrics of one process are as two processes are. Here the second one would
// be another process, that has got the file as descriptor 3.
func Example() {
	options := shm.Options{Topology: topology.Flat(2)}
	first, err := shm.Create(options)
	if err != nil {
		log.Fatal(err)
	}
	defer first.Close()
	second, err := shm.Open(first.File(), options)
	if err != nil {
		log.Fatal(err)
	}
	defer second.Close()

	go func() {
		box, _ := second.Alloc(1)
		w, err := second.Window(1)
		if err != nil {
			log.Fatal(err)
		}
		w.Put(0, box, 42)
		w.Flush(0)
	}()

	box, _ := first.Alloc(1)
	w, err := first.Window(0)
	if err != nil {
		log.Fatal(err)
	}
	value, err := w.Await(context.Background(), 0, box, rma.IsNot(0))
	fmt.Println(value, err)

	_, err = first.Window(1)
	fmt.Println(err != nil)
	// Output:
	// 42 <nil>
	// true
}
