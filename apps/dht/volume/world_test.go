package volume_test

import (
	"context"
	"testing"

	"github.com/orwl/go-orwl/apps/dht/volume"
	"github.com/orwl/go-orwl/net/mem"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/topology"
)

// parsed is a machine that a test describes.
func parsed(t testing.TB, text string) *topology.Tree {
	t.Helper()
	tree, err := topology.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// windows are the windows of all ranks of a fresh fabric of goroutines; its owner is first.
func windows(t testing.TB, ranks int) (rma.Fabric, []rma.Window) {
	t.Helper()
	f, err := mem.New(mem.Options{Topology: topology.Flat(ranks)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	all := make([]rma.Window, ranks)
	for p := range all {
		if all[p], err = f.Window(rma.Rank(p)); err != nil {
			t.Fatal(err)
		}
	}
	return f, all
}

// sides are the sides of all ranks of a fresh volume, whose owner is rank 0. See how its words
// are reached: directly, or by operations, as on other machines.
func sides(t testing.TB, ranks int, how string, o volume.Options) []volume.Side {
	t.Helper()
	f, all := windows(t, ranks)
	v, err := volume.New(f, o)
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	result := make([]volume.Side, ranks)
	for p, w := range all {
		if how == byOperations {
			w = far{w}
		}
		if result[p], err = v.At(ctx, w); err != nil {
			t.Fatal(err)
		}
	}
	return result
}

// How words are reached.
const (
	directly     = "direct"
	byOperations = "operations"
)

var ways = []string{directly, byOperations}

// far hides that a window's ranks share memory.
type far struct{ rma.Window }
