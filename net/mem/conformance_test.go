package mem_test

import (
	"runtime"
	"testing"

	"github.com/orwl/go-orwl/net/mem"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/rmatest"
	"github.com/orwl/go-orwl/net/topology"
)

func newFabric(t testing.TB, o rmatest.Options) rma.Fabric {
	t.Helper()
	f, err := mem.New(mem.Options{Topology: o.Topology, Words: o.Words, Context: o.Context})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestConformance(t *testing.T) { rmatest.Run(t, newFabric) }

// TestConformanceManyRanks has far more ranks than any machine that runs this has
// cores.
func TestConformanceManyRanks(t *testing.T) { rmatest.RunRanks(t, rmatest.MaxRanks, newFabric) }

func TestLifecycle(t *testing.T) { rmatest.Lifecycle(t, newFabric) }

// TestCrowdOfRanksHere has more ranks than processors, and not all of them here.
func TestCrowdOfRanksHere(t *testing.T) {
	processors := runtime.GOMAXPROCS(0)
	for _, here := range []int{processors, processors + 1} {
		f, err := mem.New(mem.Options{Topology: topology.Flat(2 * here), Here: func(p rma.Rank) bool { return int(p) < here }})
		if err != nil {
			t.Fatal(err)
		}
		w, err := f.Window(0)
		if err != nil {
			t.Fatal(err)
		}
		w.(rma.Considerate).HandedOver()
		if again, crowded := w.(rma.Considerate).Returns(1), here > processors; again > 0 != crowded {
			t.Errorf("%d ranks on %d processors: it returns again after %d turns", here, processors, again)
		}
	}
}
