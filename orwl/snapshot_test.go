package orwl

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"

	"github.com/orwl/go-orwl/internal/inner"
	"github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/resource"
)

// watchWrites takes snapshots of a resource of two words, which are the same between two writes, until there were so many
// writes. No snapshot shows a half of one, and none goes back. The first ones may come too early.
func watchWrites(ctx context.Context, rt *Runtime, r *resource.Resource, writes uint64) error {
	for last := uint64(0); last < writes; {
		words, version, err := Snapshot[uint64](ctx, rt, r)
		switch {
		case errors.Is(err, inner.ErrEarly):
			runtime.Gosched()
			continue
		case err != nil:
			return err
		case words[0] != version || words[0] != words[len(words)-1] || version < last:
			return fmt.Errorf("version %d after %d shows %d and %d", version, last, words[0], words[len(words)-1])
		}
		last = version
	}
	return nil
}

// Snapshots on all nodes look at resources while tasks write them, on the home and elsewhere: each shows what stood between two writes, and the last one is reached.
func TestSnapshots(t *testing.T) {
	const rounds = 50
	for name, in := range worlds {
		for _, count := range []int{1, 3} {
			t.Run(fmt.Sprintf("%s of %d", name, count), func(t *testing.T) {
				nodes := []*Nodes{nil}
				if count > 1 {
					nodes = crewIn(t, count, in)
					defer disband(t, nodes)
				}
				each(nodes, func(_ int, n *Nodes) {
					rt := mustNew(t, Options{Nodes: n})
					all := []*resource.Resource{Array[uint64](rt, "small", 2), Array[uint64](rt, "large", 1<<12+1)}
					for i, r := range all {
						rt.Snapshots(r)
						rt.Home(r, i%rt.Nodes())
					}
					for on := range rt.Nodes() {
						for i, r := range all {
							task := rt.Task(fmt.Sprintf("task %d on %d", i, on)).On(on)
							out := Writes[uint64](task, r)
							write := func(int) error {
								words := out.Slice()
								words[0]++
								words[len(words)-1]++
								return nil
							}
							task.Each(rounds, write)
						}
					}
					ctx, cancel := context.WithCancel(t.Context())
					defer cancel()
					looked := make(chan error, len(all))
					for _, r := range all {
						go func() { looked <- watchWrites(ctx, rt, r, uint64(rounds*rt.Nodes())) }()
					}
					if err := rt.Run(ctx); err != nil {
						t.Error(err)
						cancel()
					}
					for range all {
						if err := <-looked; err != nil {
							t.Error(err)
						}
					}
					if _, err := n.Gather(context.Background(), "all have looked", nil); err != nil {
						t.Error(err)
					}
				})
			})
		}
	}
}

// A snapshot is refused where it cannot be given, with what to do.
func TestSnapshotRefused(t *testing.T) {
	nodes := crew(t, 2)
	defer disband(t, nodes)
	each(nodes, func(i int, n *Nodes) {
		rt := mustNew(t, Options{Nodes: n})
		declared, other := rt.Resource("declared", 8), rt.Resource("other", 8)
		rt.Snapshots(declared)
		writer := rt.Task("writer").On(0)
		held := writer.Write(declared)
		if _, _, err := rt.Snapshot(t.Context(), declared, nil); !errors.Is(err, inner.ErrEarly) {
			t.Errorf("before Run: %v", err)
		}
		writer.Each(1, func(int) error {
			if _, _, err := rt.Snapshot(writer.Context(), held.Resource(), nil); !errors.Is(err, queue.ErrLeafRule) {
				t.Errorf("by the task that holds it: %v", err)
			}
			return nil
		})
		if err := rt.Run(t.Context()); err != nil {
			t.Error(err)
		}
		for what, c := range map[string]struct {
			r    *resource.Resource
			want error
		}{"declared": {declared, nil}, "not declared": {other, errNoSnapshots}, "no resource": {nil, errResource}} {
			if _, _, err := rt.Snapshot(t.Context(), c.r, nil); !errors.Is(err, c.want) {
				t.Errorf("node %d, %s: %v, want %v", i, what, err, c.want)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, _, err := rt.Snapshot(ctx, declared, nil); i == 1 && !errors.Is(err, context.Canceled) {
			t.Errorf("with a context that has ended: %v", err)
		}
		if _, err := n.Gather(t.Context(), "all have looked", nil); err != nil {
			t.Error(err)
		}
	})
}

// A node that is lost answers no more: a snapshot that waits for it ends with its loss.
func TestSnapshotOfLostNode(t *testing.T) {
	n := &Nodes{}
	q := &question{1, make(chan copied, 1)}
	n.copies.asked = map[uint64]*question{7: q, 8: {2, make(chan copied, 1)}}
	n.copies.lost(1, errPlanned)
	if a := <-q.answer; !errors.Is(a.err, errPlanned) || len(n.copies.asked) != 1 {
		t.Errorf("%v, and %d questions are left", a.err, len(n.copies.asked))
	}
	if n.copies.take(7) != nil {
		t.Error("the question is still there")
	}
}
