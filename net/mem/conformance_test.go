package mem_test

import (
	"testing"

	"github.com/orwl/go-orwl/net/mem"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/rmatest"
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
