package mem_test

import (
	"testing"

	"github.com/orwl/go-orwl/net/mem"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/rmatest"
	"github.com/orwl/go-orwl/net/topology"
)

// TestSurvival loses one of five ranks.
func TestSurvival(t *testing.T) {
	const lost = 2
	f, err := mem.New(mem.Options{Topology: topology.Flat(5), Survive: true})
	if err != nil {
		t.Fatal(err)
	}
	at, err := f.Alloc(2)
	if err != nil {
		t.Fatal(err)
	}
	var windows []rma.Survivor
	for _, p := range []rma.Rank{0, 1, 3, 4} {
		w, err := f.Window(p)
		if err != nil {
			t.Fatal(err)
		}
		windows = append(windows, w.(rma.Survivor))
	}
	err = rmatest.Survival(t.Context(), windows, at, lost, func() { f.Lose(lost, "the test says so") }, func() { f.Close() })
	if err != nil {
		t.Error(err)
	}
}

// TestLoseFails loses a rank of windows that do not survive.
func TestLoseFails(t *testing.T) {
	f, err := mem.New(mem.Options{Topology: topology.Flat(2)})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	f.Lose(1, "the test says so")
	for p := range rma.Rank(2) {
		w, err := f.Window(p)
		if err != nil {
			t.Fatal(err)
		}
		if _, survives := w.(rma.Survivor); survives || w.Err() == nil {
			t.Errorf("rank %d survives: %t, with %v", p, survives, w.Err())
		}
	}
}
