package orwl

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/orwl/go-orwl/handle"
	"github.com/orwl/go-orwl/resource"
)

// twoNodes runs a program of a resource with its home on node 0, and a task on node 1. It
// returns how the runs have ended. The body is given the resource as node 0 has it.
func twoNodes(t *testing.T, o Options, body func(rt *Runtime, t *Task, write *Access, home *resource.Resource) error) (ends [2]error) {
	t.Helper()
	nodes := crew(t, 2)
	declared := make(chan *resource.Resource, 1)
	each(nodes, func(i int, n *Nodes) {
		o := o
		o.Nodes = n
		rt := mustNew(t, o)
		r := rt.Resource("r", 64<<10)
		rt.Home(r, 0)
		if i == 0 {
			declared <- r
		}
		task := rt.Task("writes").On(1)
		write := task.Write(r)
		task.Do(func(t *Task) error { return body(rt, t, write, <-declared) })
		ends[i] = rt.Run(context.Background())
	})
	disband(t, nodes)
	return ends
}

// Flush of a task, and of its runtime, returns when the home has the writes.
func TestFlush(t *testing.T) {
	ends := twoNodes(t, Options{}, func(rt *Runtime, task *Task, write *Access, home *resource.Resource) error {
		for round := range task.Rounds(6) {
			if flush := []func(context.Context) error{task.Flush, rt.Flush, write.Flush}[round%3]; round > 0 {
				if err := flush(task.Context()); err != nil {
					return err
				}
			}
			Write[uint64](write)[0]++
		}
		err := task.Flush(task.Context())
		if v := home.Inspect().Version; v != 6 {
			t.Errorf("version %d at the home after Flush, want 6", v)
		}
		return err
	})
	if err := errors.Join(ends[:]...); err != nil {
		t.Error(err)
	}
}

// With Confirm, the home has the write when Release returns.
func TestConfirm(t *testing.T) {
	ends := twoNodes(t, Options{Confirm: true}, func(_ *Runtime, task *Task, write *Access, home *resource.Resource) error {
		for want := uint64(1); want <= 20; want++ {
			if err := write.Acquire(task.Context()); err != nil {
				return err
			}
			Write[uint64](write)[0]++
			if err := write.Next(); err != nil {
				return err
			}
			if v := home.Inspect().Version; v != want {
				t.Errorf("version %d at the home after Next, want %d", v, want)
			}
		}
		return nil
	})
	if err := errors.Join(ends[:]...); err != nil {
		t.Error(err)
	}
}

// A task loses a write, heeds the error that says so, and ends well. The run of its node
// names the write all the same; once Flush has named it, the run does not.
func TestRunReportsLostWrite(t *testing.T) {
	for _, flushes := range []bool{false, true} {
		ends := twoNodes(t, Options{}, func(rt *Runtime, task *Task, write *Access, _ *resource.Resource) error {
			// The grant that confirms the write may come before the suspicion: then again.
			for lost := (*resource.LostWriteError)(nil); lost == nil; {
				if err := write.Acquire(task.Context()); err != nil {
					return err
				}
				Write[uint64](write)[0]++
				if err := write.Next(); err != nil {
					return err
				}
				rt.o.Nodes.site.Suspect(0, errPlanned)
				err := write.Acquire(task.Context())
				if !errors.Is(err, resource.ErrLost) {
					t.Errorf("acquire after a suspicion: %v", err)
				}
				errors.As(err, &lost)
				if err := errors.Join(write.Cancel(), write.Request(write.Resource(), resource.Write)); err != nil {
					return err
				}
			}
			if flushes {
				if err := rt.Flush(task.Context()); !errors.As(err, new(*resource.LostWriteError)) {
					t.Errorf("flush returns %v", err)
				}
			}
			return nil
		})
		var lost *resource.LostWriteError
		if named := errors.As(ends[1], &lost); named == flushes || named && (lost.Resource != "r" || lost.Home != 0 || !errors.Is(lost, errPlanned)) {
			t.Errorf("flushes %t: the run of node 1 returns %v", flushes, ends[1])
		}
		if ends[0] != nil {
			t.Errorf("flushes %t: the run of node 0 returns %v", flushes, ends[0])
		}
	}
}

// A handle outlives its node's part in the run, and the home's part goes on. The home no
// longer takes its write, and the release says so.
func TestReleaseAfterClose(t *testing.T) {
	nodes := crew(t, 2)
	var h handle.Handle
	each(nodes, func(i int, n *Nodes) {
		rt := mustNew(t, Options{Nodes: n})
		r := rt.Resource("r", 8)
		rt.Home(r, 0)
		rt.Task("leaves").On(1).Do(func(t *Task) error {
			if err := errors.Join(h.Request(r, resource.Write), h.Acquire(t.Context())); err != nil {
				return err
			}
			_, err := handle.Write[uint64](&h)
			return err
		})
		if err := rt.Run(context.Background()); err != nil {
			t.Errorf("node %d: %v", i, err)
		}
	})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := nodes[1].Close(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("closing node 1 without waiting: %v", err)
	}
	if err := h.Release(); !errors.Is(err, resource.ErrStale) {
		t.Errorf("release after Close: %v, want ErrStale", err)
	}
	if err := nodes[0].Close(context.Background()); err != nil {
		t.Errorf("closing node 0: %v", err)
	}
}

// A lost write is logged when it is lost.
func TestLostWriteIsLogged(t *testing.T) {
	var text bytes.Buffer
	n := &Nodes{log: slog.New(slog.NewTextHandler(&text, nil))}
	n.grantsEnd(resource.Ending{Node: 1, Grants: 1, Fence: 7, Why: &resource.LostWriteError{Resource: "r", Home: 2, Fence: 7, Err: errPlanned}})
	for _, want := range []string{"level=ERROR", "may be lost", "resource=r", "fence=7", "home=2"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("%q does not say %s", text.String(), want)
		}
	}
}

// A run of one process has nothing to wait for.
func TestFlushOfOneProcess(t *testing.T) {
	rt := mustNew(t, Options{})
	r := rt.Resource("r", 8)
	task := rt.Task("t")
	write := task.Write(r)
	task.Do(func(task *Task) error {
		for range task.Rounds(2) {
			Write[uint64](write)[0]++
		}
		var h handle.Handle
		return errors.Join(task.Flush(task.Context()), rt.Flush(task.Context()), h.Flush(task.Context()))
	})
	if err := rt.Run(t.Context()); err != nil {
		t.Error(err)
	}
}
