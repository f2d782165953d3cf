package orwl

import (
	"context"
	"errors"
	"strings"
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
func bereft(t *testing.T, o Options, policy queue.Policy, then func(t *Task, r *resource.Resource) error) [2]error {
	t.Helper()
	nodes := crew(t, 3)
	held, left := make(chan struct{}), make(chan struct{})
	var ends [2]error
	var began sync.WaitGroup
	began.Add(2)
	each(nodes, func(i int, n *Nodes) {
		o := o
		o.Nodes = n
		rt := mustNew(t, o)
		r := rt.Resource("r", 8)
		rt.Home(r, 1)
		rt.Policy(r, policy)
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

// look reads the resource, and tells what it finds, and what became of the writer
// before.
func look(t *Task, r *resource.Resource) (value uint64, prior, err error) {
	var h handle.Handle
	if err := h.Request(r, queue.Read); err != nil {
		return 0, nil, err
	}
	if err := h.Acquire(t.Context()); err != nil {
		return 0, nil, errors.Join(err, h.Cancel())
	}
	v, err := handle.Read[uint64](&h)
	if err == nil {
		value = v.At(0)
	}
	return value, h.Prior(), errors.Join(err, h.Release())
}

// A run goes on without a node, if it is told to, and with each resource as its
// policy says.
func TestGoOn(t *testing.T) {
	for policy, want := range map[queue.Policy]error{queue.Discard: queue.ErrPriorHolderLost, queue.Poison: queue.ErrPoisoned} {
		ends := bereft(t, Options{atLoss: goOn}, policy, func(task *Task, r *resource.Resource) error {
			value, prior, err := look(task, r)
			if value != 0 || !errors.Is(prior, want) {
				t.Errorf("policy %d: task %s finds %d, after %v, want 0 after %v", policy, task.Name(), value, prior, want)
			}
			return err
		})
		if err := errors.Join(ends[:]...); err != nil {
			t.Errorf("policy %d: %v", policy, err)
		}
	}
	ends := bereft(t, Options{atLoss: goOn}, queue.Abort, func(task *Task, r *resource.Resource) error {
		if _, _, err := look(task, r); !errors.Is(err, queue.ErrAborted) && !errors.Is(err, queue.ErrBroken) {
			t.Errorf("task %s finds a resource that was aborted: %v", task.Name(), err)
		}
		return nil
	})
	if err := errors.Join(ends[:]...); err != nil {
		t.Error(err)
	}
}

// The launcher is told of a run that goes on, and of no other.
func TestLauncherIsTold(t *testing.T) {
	for at, want := range map[atLoss]int{endRun: 0, goOn: 1} {
		told := 0
		n := &Nodes{place: launch.Place{GoOn: func() error { told++; return nil }}}
		if n.begin(func(error) {}, at); told != want {
			t.Errorf("AtLoss %d: told %d times, want %d", at, told, want)
		}
	}
}

// By default the loss of a node ends the run of all others.
func TestEndRun(t *testing.T) {
	ends := bereft(t, Options{}, queue.Discard, func(task *Task, _ *resource.Resource) error {
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

// A wrong policy is found before anything runs.
func TestGovernMistakes(t *testing.T) {
	rt := mustNew(t, Options{})
	r := rt.Resource("r", 8)
	rt.Policy(r, queue.Abort+1)
	err := rt.Run(t.Context())
	if err == nil || !strings.Contains(err.Error(), "want Discard, Poison or Abort") {
		t.Errorf("%v", err)
	}
}
