package orwl

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/orwl/go-orwl/handle"
	"github.com/orwl/go-orwl/internal/queue"
)

// faulting runs a task a, which writes x on fault pages, and its neighbour b.
func faulting(t *testing.T, body func(a *Access, round int) error) error {
	rt := mustNew(t, Options{FaultPages: true})
	x := rt.Resource("x", 16)
	t.Cleanup(func() {
		if err := core(x).Close(); err != nil {
			t.Error(err)
		}
	})
	task, b := rt.Task("a"), rt.Task("b")
	task.Read(rt.Resource("lock", 0))
	a := task.Write(x)
	read := b.Read(x)
	task.Each(3, func(round int) error { return body(a, round) })
	b.Each(3, func(int) error {
		if got := Read[uint64](read).At(1); got > 3 {
			return fmt.Errorf("%d was read", got)
		}
		return nil
	})
	err := rt.Run(context.Background())
	checkIdle(t, rt)
	return err
}

// With fault pages, a late use of a view ends the run, and the error names the task
// and the handle.
func TestStaleView(t *testing.T) {
	var v handle.View[uint64]
	var s []uint64
	for name, body := range map[string]func(a *Access, round int) error{
		"read in the next round": func(a *Access, round int) error {
			if round == 1 {
				return fmt.Errorf("%d was read", v.At(1))
			}
			v = Read[uint64](a)
			return nil
		},
		"write in the next round": func(a *Access, round int) error {
			if round == 1 {
				s[1] = 1
			}
			s = Write[uint64](a)
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			err := faulting(t, body)
			var stale *queue.StaleViewError
			var task *taskError
			if !errors.As(err, &stale) || !errors.As(err, &task) {
				t.Fatalf("%v, want a *queue.StaleViewError", err)
			}
			if task.Task != "a" || stale.Resource != "x" || stale.Handle != "2 of task a" || stale.Offset != 8 || stale.Write {
				t.Errorf("%v: %+v", err, stale)
			}
			if want := `orwl: task "a": resource: the view that handle 2 of task a has of resource x was used after its release`; !strings.HasPrefix(err.Error(), want) {
				t.Errorf("%v, want %s", err, want)
			}
		})
	}
}

// A program without mistakes runs as without fault pages.
func TestFaultPages(t *testing.T) {
	err := faulting(t, func(a *Access, round int) error {
		Write[uint64](a)[1] += uint64(round)
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	// Any other fault is a panic like others.
	err = faulting(t, func(*Access, int) error {
		var nowhere *int
		*nowhere = 1
		return nil
	})
	if !isPanicked(err) {
		t.Errorf("%v, want a panic", err)
	}
}
