package orwl

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/orwl/go-orwl/resource"
)

// relaxedAccesses are all kinds of relaxed access.
var relaxedAccesses = map[string]func(ctx context.Context, r *resource.Resource) error{
	"open": func(ctx context.Context, r *resource.Resource) error { return r.Open(ctx) },
	"snapshot": func(ctx context.Context, r *resource.Resource) error {
		_, _, err := r.Snapshot(ctx, nil)
		return err
	},
	"relaxed read": func(ctx context.Context, r *resource.Resource) error {
		return r.ReadRelaxed(ctx, func([]byte) error { return nil })
	},
	"relaxed write": func(ctx context.Context, r *resource.Resource) error {
		return r.WriteRelaxed(ctx, func([]byte) error { return nil })
	},
	"relaxed access": func(ctx context.Context, r *resource.Resource) error {
		in, err := r.Relaxed(ctx, resource.Write)
		if err == nil {
			in.Leave()
		}
		return err
	},
}

// leafRun runs a program of a task a, which writes x, and a task b, which writes y.
// body is the body of a. A run that stands still is ended and fails the test.
func leafRun(t *testing.T, before func(x, y *resource.Resource), body func(a *Task, x *Access, y *resource.Resource) error) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		rt := mustNew(t, Options{Stall: stall, OnStall: func(s State) {
			t.Errorf("hangs:\n%v", s)
			cancel()
		}})
		x, y := rt.Resource("x", 8), rt.Resource("y", 8)
		before(x, y)
		a, b := rt.Task("a"), rt.Task("b")
		own := a.Write(x)
		b.Write(y)
		ended := make(chan struct{})
		a.Do(func(a *Task) error {
			defer close(ended)
			return body(a, own, y)
		})
		b.Do(func(b *Task) error {
			for range b.Rounds(1) {
				select {
				case <-ended:
				case <-b.Context().Done():
				}
			}
			return nil
		})
		if err := rt.Run(ctx); err != nil && ctx.Err() == nil {
			t.Error(err)
		}
	})
}

// isLeaf checks the text of an error of the leaf rule.
func isLeaf(t *testing.T, err error, want string) {
	t.Helper()
	if !errors.Is(err, resource.ErrLeafRule) || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
}

// opened makes the first relaxed access to both resources.
func opened(t *testing.T) func(x, y *resource.Resource) {
	return func(x, y *resource.Resource) {
		if err := errors.Join(x.Open(context.Background()), y.Open(context.Background())); err != nil {
			t.Error(err)
		}
	}
}

func shut(_, _ *resource.Resource) {}

// A task that holds an ordered grant makes no relaxed access: neither to the resource
// that it holds, nor to another one that has ordered requests.
func TestLeafHolds(t *testing.T) {
	for name, access := range relaxedAccesses {
		for open, before := range map[string]func(x, y *resource.Resource){"opened": opened(t), "shut": shut} {
			t.Run(name+"/"+open, func(t *testing.T) {
				leafRun(t, before, func(a *Task, x *Access, y *resource.Resource) error {
					for range a.Rounds(1) {
						isLeaf(t, access(a.Context(), x.Resource()), "resource: "+name+` of "x" (`)
						isLeaf(t, access(a.Context(), y), `task "a" holds an ordered grant of "x": release it first`)
					}
					return nil
				})
			})
		}
	}
}

// The first relaxed access waits for all earlier requests. A task that has one itself must
// not make it.
func TestLeafFirst(t *testing.T) {
	for name, access := range relaxedAccesses {
		t.Run(name, func(t *testing.T) {
			leafRun(t, shut, func(a *Task, x *Access, _ *resource.Resource) error {
				isLeaf(t, access(a.Context(), x.Resource()), `task "a" has requested "x", and the first relaxed access waits for that: call Open before Run`)
				return nil
			})
		})
	}
}

// A task inside a relaxed access waits for no ordered grant, by any verb.
func TestLeafInside(t *testing.T) {
	for name, acquire := range map[string]func(a *Task, x *Access) error{
		"rounds": func(a *Task, x *Access) error {
			for range a.Rounds(1) {
			}
			return a.err
		},
		"access":        func(a *Task, x *Access) error { return x.Acquire(a.Context()) },
		"other context": func(a *Task, x *Access) error { return x.Acquire(context.Background()) },
		"another handle": func(a *Task, x *Access) error {
			_, err := Values[uint64](a.Context(), x.Resource())
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			leafRun(t, opened(t), func(a *Task, x *Access, _ *resource.Resource) error {
				in, err := x.Resource().Relaxed(a.Context(), resource.Write)
				if err != nil {
					return err
				}
				err = acquire(a, x)
				in.Leave()
				isLeaf(t, err, `acquire of "x" (`)
				isLeaf(t, err, `task "a" is inside a relaxed access of "x": leave it first`)
				a.err = nil
				return nil
			})
		})
	}
}

// The leaf rule allows everything that cannot hang.
func TestLeafAllows(t *testing.T) {
	for name, access := range relaxedAccesses {
		t.Run(name, func(t *testing.T) {
			leafRun(t, opened(t), func(a *Task, x *Access, y *resource.Resource) error {
				free, err := resource.NewWith("free", 8, resource.Options{Relaxed: resource.RelaxedOptions{Guard: func() (resource.Guard, error) { return a.rt.makeGuard("free") }}})
				if err != nil {
					return err
				}
				err = access(a.Context(), x.Resource()) // requested, and opened before
				for range a.Rounds(1) {
					err = errors.Join(err, access(a.Context(), free)) // has no ordered requests
				}
				in, knock := free.Relaxed(a.Context(), resource.Write)
				if err = errors.Join(err, knock); err != nil {
					return err
				}
				defer in.Leave()
				var h resource.Place
				if err := h.Request(x.Resource(), resource.Write); err != nil {
					return err
				}
				if !h.Granted() {
					t.Error("a free resource is not granted")
				}
				return errors.Join(h.Acquire(a.Context()), h.Release()) // does not wait
			})
		})
	}
}

// Without the task's context nothing can be detected. Then the stall report names the
// resource, and which kind of access waits.
func TestLeafStall(t *testing.T) {
	for name, c := range map[string]struct {
		hang func(a *Task, x *Access) error
		want string
	}{
		"holds": {
			func(a *Task, x *Access) (err error) {
				for range a.Rounds(1) {
					_, _, err = x.Resource().Snapshot(a.run.ctx, nil)
				}
				return err
			},
			"a, round 0, holds x, works\n" +
				"relaxed door of x: 1 relaxed access waits for ordered ones\n",
		},
		"inside": {
			func(a *Task, x *Access) error {
				in, err := x.Resource().Relaxed(a.run.ctx, resource.Read)
				if err != nil {
					return err
				}
				defer in.Leave()
				return x.Acquire(a.run.ctx)
			},
			"a, round 0, holds x, works\n" +
				"relaxed door of x: ordered accesses wait for relaxed ones, which are inside\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(context.Background())
				defer cancel()
				var got string
				rt := mustNew(t, Options{Stall: stall, OnStall: func(s State) {
					got = s.String()
					cancel()
				}})
				r := rt.Resource("x", 8)
				if err := r.Open(ctx); err != nil {
					t.Fatal(err)
				}
				a := rt.Task("a")
				x := a.Write(r)
				a.Do(func(a *Task) error { return c.hang(a, x) })
				if err := rt.Run(ctx); !errors.Is(err, context.Canceled) {
					t.Error(err)
				}
				if got != c.want {
					t.Errorf("%s\nwant %s", got, c.want)
				}
			})
		})
	}
}
