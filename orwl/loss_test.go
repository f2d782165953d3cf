package orwl

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/orwl/go-orwl/handle"
	"github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/orwl/launch"
	"github.com/orwl/go-orwl/resource"
)

// bereft plays a run of three nodes, in which node 2 leaves while it writes the
// resource, whose home is node 1. Then the others do as they like. It returns how
// their runs have ended.
func bereft(t *testing.T, then func(t *Task, r *resource.Resource) error) [2]error {
	t.Helper()
	nodes := crew(t, 3)
	held, left := make(chan struct{}), make(chan struct{})
	var ends [2]error
	var began sync.WaitGroup
	began.Add(2)
	each(nodes, func(i int, n *Nodes) {
		rt := mustNew(t, Options{Nodes: n})
		r := rt.Resource("r", 8)
		rt.Home(r, 1)
		survivor := func(t *Task) error {
			began.Done()
			<-held
			return then(t, r)
		}
		rt.Task("stays").On(0).Do(survivor)
		rt.Task("keeps").On(1).Do(survivor)
		rt.Task("leaves").On(2).Do(func(task *Task) error {
			defer close(held)
			began.Wait()
			var h handle.Handle
			if err := h.Request(r, queue.Write); err != nil {
				return err
			}
			if err := h.Acquire(task.Context()); err != nil {
				return err
			}
			w, err := handle.Write[uint64](&h)
			w[0] = 7
			return errors.Join(err, n.node.Close(context.Background()))
		})
		err := rt.Run(context.Background())
		if i == 2 {
			if err == nil {
				t.Error("the run of who has left ends well")
			}
			close(left)
			return
		}
		ends[i] = err
		<-left
		if err := n.Close(context.Background()); err != nil {
			t.Errorf("closing node %d: %v", i, err)
		}
	})
	return ends
}

// The launcher is told of a run that goes on.
func TestLauncherIsTold(t *testing.T) {
	told := 0
	n := &Nodes{place: launch.Place{GoOn: func() error { told++; return nil }}}
	if n.outlive(); told != 1 {
		t.Errorf("told %d times, want once", told)
	}
}

// The loss of a node ends the run of all others.
func TestEndRun(t *testing.T) {
	ends := bereft(t, func(task *Task, _ *resource.Resource) error {
		<-task.Context().Done()
		return nil
	})
	for i, err := range ends {
		var other *NodeError
		if !errors.As(err, &other) || other.Node != 2 || !errors.Is(err, queue.ErrLost) {
			t.Errorf("node %d: %v, want the loss of node 2", i, err)
		}
	}
}
