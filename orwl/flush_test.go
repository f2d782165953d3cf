package orwl

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/internal/typed"
	"github.com/orwl/go-orwl/resource"
)

// twoNodes runs a program of a resource with its home on node 0, and a task on node 1 that writes it by a pair. It
// returns how the runs have ended. The body is given the resource as node 0 has it.
func twoNodes(t *testing.T, body func(rt *Runtime, t *Task, write *queue.Place, home *resource.Resource) error) (ends [2]error) {
	t.Helper()
	nodes := crew(t, 2)
	declared := make(chan *resource.Resource, 1)
	each(nodes, func(i int, n *Nodes) {
		rt := mustNew(t, Options{Nodes: n})
		r := rt.Resource("r", 64<<10)
		rt.Home(r, 0)
		if i == 0 {
			declared <- r
		}
		rt.Task("writes").On(1).Do(func(t *Task) error {
			write := new(queue.Place)
			if err := write.Request(core(r), queue.Write); err != nil {
				return err
			}
			return errors.Join(body(rt, t, write, <-declared), write.Cancel())
		})
		ends[i] = rt.Run(context.Background())
	})
	disband(t, nodes)
	return ends
}

// add adds one to the first word of what a pair holds.
func add(write *queue.Place) error {
	words, err := typed.Write[uint64](write, new(typed.Memo))
	if err == nil {
		words[0]++
	}
	return err
}

// Flush of a runtime returns when the home has the writes.
func TestFlush(t *testing.T) {
	ends := twoNodes(t, func(rt *Runtime, task *Task, write *queue.Place, home *resource.Resource) error {
		for round := range uint64(6) {
			if err := errors.Join(write.Acquire(task.Context()), add(write), write.Renew()); err != nil {
				return err
			}
			if err := rt.flushAll(task.Context()); err != nil {
				return err
			}
			if v := core(home).Inspect().Version; v != round+1 {
				t.Errorf("version %d at the home after Flush, want %d", v, round+1)
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
		ends := twoNodes(t, func(rt *Runtime, task *Task, write *queue.Place, _ *resource.Resource) error {
			r := rt.Lookup("r")
			// The grant that confirms the write may come before the suspicion: then again.
			for lost := (*queue.LostWriteError)(nil); lost == nil; {
				if err := errors.Join(write.Acquire(task.Context()), add(write), write.Renew()); err != nil {
					return err
				}
				rt.o.Nodes.site.Suspect(0, errPlanned)
				err := write.Acquire(task.Context())
				if !errors.Is(err, queue.ErrLost) {
					t.Errorf("acquire after a suspicion: %v", err)
				}
				errors.As(err, &lost)
				if err := errors.Join(write.Cancel(), write.Request(core(r), queue.Write)); err != nil {
					return err
				}
			}
			if flushes {
				if err := rt.flushAll(task.Context()); !errors.As(err, new(*queue.LostWriteError)) {
					t.Errorf("flush returns %v", err)
				}
			}
			return nil
		})
		var lost *queue.LostWriteError
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
	var h queue.Place
	each(nodes, func(i int, n *Nodes) {
		rt := mustNew(t, Options{Nodes: n})
		r := rt.Resource("r", 8)
		rt.Home(r, 0)
		rt.Task("leaves").On(1).Do(func(t *Task) error {
			if err := errors.Join(h.Request(core(r), queue.Write), h.Acquire(t.Context())); err != nil {
				return err
			}
			_, err := typed.Write[uint64](&h, new(typed.Memo))
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
	if err := h.Release(); !errors.Is(err, queue.ErrStale) {
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
	n.grantsEnd(queue.Ending{Node: 1, Grants: 1, Fence: 7, Why: &queue.LostWriteError{Resource: "r", Home: 2, Fence: 7, Err: errPlanned}})
	for _, want := range []string{"level=ERROR", "may be lost", "resource=r", "fence=7", "home=2"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("%q does not say %s", text.String(), want)
		}
	}
}

// A run of one process has nothing to wait for.
func TestFlushOfOneProcess(t *testing.T) {
	rt := mustNew(t, Options{})
	task := rt.Task("t")
	write := task.Write(rt.Resource("r", 8))
	task.Each(2, func(int) error {
		Write[uint64](write)[0]++
		return rt.flushAll(task.Context())
	})
	if err := rt.Run(t.Context()); err != nil {
		t.Error(err)
	}
}
