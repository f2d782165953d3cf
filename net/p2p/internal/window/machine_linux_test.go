package window

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"sync"
	"testing"

	"github.com/orwl/go-orwl/net/p2p/internal/control"
	"github.com/orwl/go-orwl/net/p2p/internal/lane"
	"github.com/orwl/go-orwl/net/p2p/internal/loan"
	"github.com/orwl/go-orwl/net/p2p/internal/transport"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/shm"
	"github.com/orwl/go-orwl/net/topology"
)

// TestOtherFile opens what has the name of another node's memory where processes are numbered
// otherwise.
func TestOtherFile(t *testing.T) {
	file, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	id, err := fileID(file)
	if err != nil {
		t.Fatal(err)
	}
	a, err := loan.NewArena(2)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.Close)
	arena := fmt.Sprintf("/proc/self/fd/%d", a.Offer.FD)
	f := &Fabric{o: Options{Topology: topology.Flat(2), Words: 8}}
	for _, at := range []control.Place{{Path: file.Name(), File: id}, {Path: file.Name() + " is not there"}, {Path: arena, File: id}, {Path: arena}} {
		if m, err := f.join(at); err == nil {
			t.Errorf("%+v was opened", at)
			m.Close()
		}
	}
}

// crowd is nodes that gather, and do no more.
type crowd struct {
	machines []string
	hears    func(node int, name string, blobs [][]byte) // changes what a node hears

	mu      sync.Mutex
	gathers map[string]*gathering
}

type gathering struct {
	blobs   [][]byte
	missing int
	done    chan struct{}
}

// member is one of a crowd.
type member struct {
	*crowd
	number int
}

func (m member) Number() int                         { return m.number }
func (m member) Nodes() int                          { return len(m.machines) }
func (m member) Machine() string                     { return m.machines[m.number] }
func (m member) Log() *slog.Logger                   { return slog.New(slog.DiscardHandler) }
func (m member) Lost(int) error                      { return nil }
func (m member) Operate(Operations)                  {}
func (m member) Lane(int, transport.Kind) *lane.Lane { panic("a crowd has no lanes") }

func (m member) Gather(_ context.Context, name string, blob []byte) ([][]byte, error) {
	m.mu.Lock()
	g := m.gathers[name]
	if g == nil {
		g = &gathering{make([][]byte, m.Nodes()), m.Nodes(), make(chan struct{})}
		m.gathers[name] = g
	}
	g.blobs[m.number] = blob
	if g.missing--; g.missing == 0 {
		close(g.done)
	}
	m.mu.Unlock()
	<-g.done
	blobs := slices.Clone(g.blobs)
	m.hears(m.number, name, blobs)
	return blobs, nil
}

// TestApart has a node of one machine that finds no memory there. The nodes of that
// machine share none, the nodes of another machine do, and all nodes know.
func TestApart(t *testing.T) {
	c := &crowd{machines: []string{"a", "b", "a", "b", "a"}, gathers: make(map[string]*gathering)}
	c.hears = func(node int, name string, blobs [][]byte) {
		if node == 4 && name == "memory of fabric" {
			blobs[0] = control.Place{Path: "/proc/self/exe", File: "1:2"}.Bytes()
		}
	}
	made := make([]rma.Fabric, len(c.machines))
	var all sync.WaitGroup
	for i := range made {
		all.Go(func() {
			var err error
			if made[i], err = Meet(t.Context(), member{c, i}, Options{Topology: topology.Flat(5), Words: 8}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for i, f := range made {
		f, ok := f.(*Fabric)
		if !ok {
			t.Fatalf("node %d has a %T", i, made[i])
		}
		if got, want := f.text(), "[0] 0 0 0 0 0; [1 3] 1 1 1 3 1; [2] 2 2 2 2 2; [4] 4 4 4 4 4"; got != want {
			t.Errorf("node %d: %s, want %s", i, got, want)
		}
		_, shares := f.memory.(*shm.Fabric)
		if shares != (i%2 == 1) {
			t.Errorf("node %d has memory of type %T", i, f.memory)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
}
