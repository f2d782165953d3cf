package window

import (
	"fmt"
	"os"
	"testing"

	"github.com/orwl/go-orwl/net/p2p/internal/control"
	"github.com/orwl/go-orwl/net/p2p/internal/loan"
	"github.com/orwl/go-orwl/net/topology"
)

// TestOtherFile opens what has the name of node 0's fabric where processes are numbered
// otherwise.
func TestOtherFile(t *testing.T) {
	f, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	id, err := fileID(f)
	if err != nil {
		t.Fatal(err)
	}
	a, err := loan.NewArena(2)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.Close)
	arena := fmt.Sprintf("/proc/self/fd/%d", a.Offer.FD)
	m := &Machine{ctx: t.Context()}
	for _, root := range []control.Site{{Path: f.Name(), File: id}, {Path: f.Name() + " is not there"}, {Path: arena, File: id}, {Path: arena}} {
		if err := m.open(Options{Topology: topology.Flat(2), Words: 8}, root); err == nil {
			t.Errorf("%+v was opened", root)
		}
	}
}
