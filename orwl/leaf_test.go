package orwl

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/orwl/go-orwl/handle"
	"github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/orwl/inspect"
	"github.com/orwl/go-orwl/resource"
)

// relaxedAccesses are all kinds of relaxed access.
var relaxedAccesses = map[string]func(ctx context.Context, r *resource.Resource) error{
	"snapshot": func(ctx context.Context, r *resource.Resource) error {
		_, _, err := (*queue.Resource)(r).Snapshot(ctx, nil)
		return err
	},
	"relaxed read": func(ctx context.Context, r *resource.Resource) error {
		in, err := r.Relaxed(ctx, queue.Read)
		if err == nil {
			in.Leave()
		}
		return err
	},
	"relaxed write": func(ctx context.Context, r *resource.Resource) error {
		in, err := r.Relaxed(ctx, queue.Write)
		if err == nil {
			in.Leave()
		}
		return err
	},
}

// open makes a relaxed access, so that no later one is the first.
func open(ctx context.Context, r *resource.Resource) error {
	_, _, err := (*queue.Resource)(r).Snapshot(ctx, nil)
	return err
}

// leafRun runs a program in which task a writes x. Until its body has ended, task b has a request for y. z is free. y and z
// have relaxed access. body is the body of a. A run that stands still is ended and fails the test.
func leafRun(t *testing.T, body func(a *Task, x *Access, y, z *resource.Resource) error) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		rt := mustNew(t, Options{Stall: stall, onStall: func(s inspect.State) {
			t.Errorf("hangs:\n%v", s)
			cancel()
		}})
		x, y, z := rt.Resource("x", 8), rt.Resource("y", 8), rt.Resource("z", 8)
		for _, r := range []*resource.Resource{y, z} { // so that no relaxed access of a task is the first one
			if err := open(ctx, r); err != nil {
				t.Fatal(err)
			}
		}
		asked, ended := make(chan struct{}), make(chan struct{})
		a, b := rt.Task("a"), rt.Task("b")
		own := a.Write(x)
		a.Each(1, func(int) error {
			defer close(ended)
			<-asked
			return body(a, own, y, z)
		})
		b.Do(func(b *Task) error {
			var h handle.Handle
			if err := h.Request(y, queue.Write); err != nil {
				return err
			}
			close(asked)
			select {
			case <-ended:
			case <-b.Context().Done():
			}
			return h.Cancel()
		})
		if err := rt.Run(ctx); err != nil && ctx.Err() == nil {
			t.Error(err)
		}
	})
}

// isLeaf checks the text of an error of the leaf rule.
func isLeaf(t *testing.T, err error, want string) {
	t.Helper()
	if !errors.Is(err, queue.ErrLeafRule) || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
}

// A task that holds an ordered grant makes no relaxed access: neither to the resource
// that it holds, nor to another one that has ordered requests.
func TestLeafHolds(t *testing.T) {
	for name, access := range relaxedAccesses {
		t.Run(name, func(t *testing.T) {
			leafRun(t, func(a *Task, x *Access, y, _ *resource.Resource) error {
				isLeaf(t, access(a.Context(), x.Resource()), ` of "x" (`)
				isLeaf(t, access(a.Context(), y), `task "a" holds an ordered grant of "x": release it first`)
				return nil
			})
		})
	}
}

// A task makes no relaxed access to what its run has for itself.
func TestLeafUndeclared(t *testing.T) {
	for name, access := range relaxedAccesses {
		t.Run(name, func(t *testing.T) {
			rt := mustNew(t, Options{})
			task, look := rt.Task("a"), rt.Task("looks")
			x := rt.Resource("x", 8)
			task.Write(x)
			task.Each(1, func(int) error { return nil })
			look.Do(func(t *Task) error { return access(t.Context(), x) })
			if err := rt.Run(t.Context()); !errors.Is(err, queue.ErrRunHas) || !strings.Contains(err.Error(), "look at it before or after") {
				t.Errorf("%v, want the run to have it", err)
			}
		})
	}
}

// A task inside a relaxed access waits for no ordered grant.
func TestLeafInside(t *testing.T) {
	leafRun(t, func(a *Task, x *Access, y, z *resource.Resource) error {
		in, err := z.Relaxed(a.Context(), queue.Write)
		if err != nil {
			return err
		}
		_, err = Values[uint64](a.Context(), y)
		in.Leave()
		isLeaf(t, err, `acquire of "y" (`)
		isLeaf(t, err, `task "a" is inside a relaxed access of "z": leave it first`)
		return nil
	})
}

// The leaf rule allows everything that cannot hang.
func TestLeafAllows(t *testing.T) {
	for name, access := range relaxedAccesses {
		t.Run(name, func(t *testing.T) {
			leafRun(t, func(a *Task, x *Access, _, z *resource.Resource) error {
				err := access(a.Context(), z) // has no ordered requests
				in, busy := z.Relaxed(a.Context(), queue.Write)
				if err = errors.Join(err, busy); err != nil {
					return err
				}
				defer in.Leave()
				var h queue.Place
				if err := h.Request(core(x.Resource()), queue.Write); err != nil {
					return err
				}
				if h.Granted() {
					t.Error("what the run has is granted")
				}
				return h.Cancel()
			})
		})
	}
}

// Without the task's context nothing can be detected. Then the stall report names the
// resource, and which kind of access waits.
func TestLeafStall(t *testing.T) {
	for name, c := range map[string]struct {
		hang func(a *Task, r *resource.Resource, h *handle.Handle) error
		want string
	}{
		"holds": {
			func(a *Task, r *resource.Resource, h *handle.Handle) error {
				if err := errors.Join(h.Request(r, queue.Write), h.Acquire(a.run.ctx)); err != nil {
					return err
				}
				_, _, err := (*queue.Resource)(r).Snapshot(a.run.ctx, nil)
				return errors.Join(err, h.Release())
			},
			"a, round 0, works\n" +
				"relaxed access of x: 1 relaxed access waits for ordered ones\n",
		},
		"inside": {
			func(a *Task, r *resource.Resource, h *handle.Handle) error {
				in, err := r.Relaxed(a.run.ctx, queue.Read)
				if err != nil {
					return err
				}
				defer in.Leave()
				return errors.Join(h.Request(r, queue.Write), h.Acquire(a.run.ctx), h.Cancel())
			},
			"a, round 0, works\n" +
				"relaxed access of x: ordered accesses wait for relaxed ones, which are inside\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(context.Background())
				defer cancel()
				var got string
				rt := mustNew(t, Options{Stall: stall, onStall: func(s inspect.State) {
					got = s.String()
					cancel()
				}})
				r := rt.Resource("x", 8)
				if err := open(ctx, r); err != nil {
					t.Fatal(err)
				}
				rt.Task("a").Do(func(a *Task) error { return c.hang(a, r, new(handle.Handle)) })
				if err := rt.Run(ctx); !errors.Is(err, context.Canceled) {
					t.Error(err)
				}
				if culprit, rest, _ := strings.Cut(got, "\n"); rest != c.want || !strings.Contains(culprit, "task a works in round 0, at orwl.TestLeafStall.") {
					t.Errorf("%s\nwant %s", got, c.want)
				}
			})
		})
	}
}
