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
	v, err := volume.New(fabric, volume.Options{Discipline: "RMA-RW", Layout: volume.Layout{Buckets: 1024, Heap: 1024}})
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
	err = sides[0].InsertNew(ctx, 7, 49)
	value, found, _ := sides[1].Get(ctx, 7)
	fmt.Println(value, found, err)
	// Output: 49 true <nil>
}
