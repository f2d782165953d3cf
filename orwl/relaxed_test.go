package orwl

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/orwl/go-orwl/resource"
)

// worlds are how the nodes of a run in this process reach one another's memory.
var worlds = map[string]bool{"shared memory": false, "frames": true}

// crewIn is a crew whose nodes share memory, or not.
func crewIn(t testing.TB, count int, remote bool) []*Nodes {
	t.Helper()
	return crewOf(t, count, func(_ int, o *JoinOptions) { o.Remote = remote })
}

// Relaxed access from every node, beside tasks on every node and with each lock that can be
// the guard: every write counts once, and no half of one is seen.
func TestRelaxedFromEveryNode(t *testing.T) {
	const rounds = 60
	for name, remote := range worlds {
		for _, guard := range []string{"RMA-RW", "foMPI-RW"} {
			for _, count := range []int{2, 3} {
				t.Run(fmt.Sprintf("%s of %d, %s", name, count, guard), func(t *testing.T) {
					nodes := crewIn(t, count, remote)
					defer disband(t, nodes)
					each(nodes, func(i int, n *Nodes) { everyNode(t, i, n, guard, rounds) })
				})
			}
		}
	}
}

func everyNode(t *testing.T, node int, n *Nodes, guard string, rounds int) {
	rt := mustNew(t, Options{Nodes: n, Guard: guard, TL: 3})
	all := []*resource.Resource{rt.Resource("a", 16), rt.Resource("b", 1<<17)}
	for _, r := range all {
		rt.Relaxed(r)
	}
	rt.Home(all[0], 1)
	rt.Home(all[1], 0)
	add := func(b []byte) error {
		for _, word := range [][]byte{b[:8], b[len(b)-8:]} {
			binary.NativeEndian.PutUint64(word, binary.NativeEndian.Uint64(word)+1)
		}
		return nil
	}
	same := func(b []byte) error {
		if x, y := binary.NativeEndian.Uint64(b), binary.NativeEndian.Uint64(b[len(b)-8:]); x != y {
			return fmt.Errorf("half a write: %d and %d", x, y)
		}
		return nil
	}
	begun, once := make(chan struct{}), new(sync.Once)
	for on := range rt.Nodes() {
		for i, r := range all {
			task := rt.Task(fmt.Sprintf("task %d on %d", i, on)).On(on)
			a := task.Write(r)
			task.Do(func(task *Task) error {
				once.Do(func() { close(begun) })
				for range task.Rounds(rounds) {
					b, err := a.Place().Writable()
					if err == nil {
						err = errors.Join(same(b), add(b))
					}
					if err != nil {
						return err
					}
				}
				return nil
			})
		}
	}
	ctx := context.Background()
	var beside sync.WaitGroup
	for _, r := range all {
		beside.Go(func() {
			<-begun
			for range rounds {
				if err := r.WriteRelaxed(ctx, add); err != nil {
					t.Errorf("node %d: a write of %s: %v", node, r.Name(), err)
					return
				}
				if err := r.ReadRelaxed(ctx, same); err != nil {
					t.Errorf("node %d: a read of %s: %v", node, r.Name(), err)
					return
				}
			}
		})
	}
	if err := rt.Run(ctx); err != nil {
		t.Errorf("node %d: %v", node, err)
	}
	beside.Wait()
	if _, err := n.Gather(ctx, "all have written", nil); err != nil {
		t.Error(err)
	}
	for _, r := range all {
		b, version, err := r.Snapshot(ctx, nil)
		if want := uint64(2 * rt.Nodes() * rounds); err != nil || version != want || binary.NativeEndian.Uint64(b) != want {
			t.Errorf("node %d: %s is %d in version %d, %v, want %d", node, r.Name(), binary.NativeEndian.Uint64(b), version, err, want)
		}
	}
	if _, err := n.Gather(ctx, "all have read", nil); err != nil {
		t.Error(err)
	}
}
