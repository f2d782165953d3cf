package orwl_test

import (
	"fmt"
	"testing"

	"github.com/orwl/go-orwl/net/topology"
	"github.com/orwl/go-orwl/orwl"
	"github.com/orwl/go-orwl/orwl/placement"
)

// TestPlace places two groups of tasks that share nothing, declared in turns.
func TestPlace(t *testing.T) {
	rt, err := orwl.New(orwl.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		rt.Resource(fmt.Sprint("r", i), 8)
	}
	for i := range 8 {
		rt.Task(fmt.Sprint("t", i)).Write(rt.Lookup(fmt.Sprint("r", i%2)))
	}
	p, homes, err := rt.Place(topology.Flat(2), placement.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i, rank := range p.Rank {
		if rank != p.Rank[i%2] || rank != homes[fmt.Sprint("r", i%2)] {
			t.Errorf("task %d is on rank %d of %v, its resource at %v", i, rank, p.Rank, homes)
		}
	}
	if p.Rank[0] == p.Rank[1] {
		t.Error("both groups are on one rank")
	}
	if _, err := p.Why("t3"); err != nil {
		t.Error(err)
	}
}
