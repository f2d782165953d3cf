package volume_test

import (
	"context"
	"fmt"

	"github.com/orwl/go-orwl/apps/dht/volume"
	"github.com/orwl/go-orwl/net/mem"
	"github.com/orwl/go-orwl/net/topology"
)

// Two ranks of one process use a volume that the first one keeps.
func Example() {
	ctx := context.Background()
	fabric, err := mem.New(mem.Options{Topology: topology.Flat(2)})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer fabric.Close()
	v, err := volume.New(fabric, volume.Options{Layout: volume.Layout{Buckets: 1024, Heap: 1024}})
	if err != nil {
		fmt.Println(err)
		return
	}
	var sides []volume.Side
	for p := range topology.Rank(2) {
		window, _ := fabric.Window(p)
		s, err := v.At(ctx, window)
		if err != nil {
			fmt.Println(err)
			return
		}
		sides = append(sides, s)
	}
	sides[0].Set(ctx, 7, 49)
	sum, _ := sides[1].Add(ctx, 7, 1)
	value, found, _ := sides[0].Get(ctx, 7)
	fmt.Println(sum, value, found)
	// Output: 50 50 true
}

// A table over a slice, without a lock.
func ExampleOpen() {
	layout := volume.Layout{Buckets: 2, Heap: 1}
	table, err := volume.Open(make([]uint64, layout.Words()), layout)
	if err != nil {
		fmt.Println(err)
		return
	}
	for key := uint64(1); ; key++ {
		if err := table.InsertNew(key, key*key); err != nil {
			fmt.Println(table.Len(), "elements;", err)
			return
		}
	}
	// Output: 3 elements; volume: no room for key 4: its bucket of 2 is taken and all 1 cells of the heap are in use: delete elements, or resize the volume
}
