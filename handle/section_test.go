package handle

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"

	"github.com/orwl/go-orwl/resource"
)

func TestSection(t *testing.T) {
	errBody := errors.New("body")
	r := newResource(t, 8)
	var h Handle
	var p Pair
	for name, g := range map[string]asker{"handle": &h, "pair": &p} {
		t.Run(name, func(t *testing.T) {
			place := g.held().Place()
			idle := func() {
				t.Helper()
				if got := g.Test(); got != Idle {
					t.Errorf("%v, want idle", got)
				}
			}
			fine(t, g.Request(r, resource.Write))
			ran := 0
			body := func() error {
				ran++
				if !place.Held() {
					t.Error("not held in the section")
				}
				return nil
			}
			fine(t, Section(t.Context(), g, body))
			idle()
			// A body that fails leaves it idle.
			fine(t, g.Request(r, resource.Write))
			if err := Section(t.Context(), g, func() error { return errors.Join(body(), errBody) }); !errors.Is(err, errBody) {
				t.Error(err)
			}
			idle()
			fine(t, g.Request(r, resource.Write))
			func() {
				defer func() {
					if recover() != errBody {
						t.Error("the panic is lost")
					}
				}()
				Section(t.Context(), g, func() error { panic(errBody) })
			}()
			idle()
			// A body that releases gets an error. If the body fails too, it gets its own.
			fine(t, g.Request(r, resource.Write))
			if err := Section(t.Context(), g, g.Release); !errors.Is(err, resource.ErrNotHeld) {
				t.Error(err)
			}
			fine(t, g.Request(r, resource.Write))
			err := Section(t.Context(), g, func() error { return errors.Join(errBody, g.Release()) })
			if !errors.Is(err, errBody) {
				t.Error(err)
			}
			idle()
			first := holder(t, r)
			fine(t, g.Request(r, resource.Write))
			if err := Section(ended(), g, body); !errors.Is(err, context.Canceled) || place.Requested() {
				t.Errorf("%v, requested: %t", err, place.Requested())
			}
			fine(t, first.Release())
			if err := Section(t.Context(), g, body); !errors.Is(err, resource.ErrNotRequested) {
				t.Error(err)
			}
			if ran != 2 {
				t.Errorf("the body ran %d times, want 2", ran)
			}
		})
	}
}

// A section that gives up waiting takes its request back: the requests behind it do not
// wait for one that is never acquired.
func TestSectionThatGivesUpLetsOthersIn(t *testing.T) {
	var h Handle
	var p Pair
	for name, g := range map[string]asker{"handle": &h, "pair": &p} {
		t.Run(name, func(t *testing.T) {
			r := newResource(t, 8)
			first := holder(t, r)
			fine(t, g.Request(r, resource.Write))
			var behind Handle
			fine(t, behind.Request(r, resource.Write))
			err := Section(ended(), g, func() error { t.Error("the body ran"); return nil })
			if !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
			fine(t, first.Release())
			if behind.Test() != Granted {
				t.Fatal("the next one waits for a section that has given up")
			}
			fine(t, behind.Acquire(t.Context()))
			fine(t, behind.Release())
			// The handle is idle, and ready for the next request.
			fine(t, g.Request(r, resource.Read))
			fine(t, g.Cancel())
		})
	}
}

// failures are the ways in which a body fails.
var failures = map[string]func(err error) error{
	"error":  func(err error) error { return err },
	"panic":  func(err error) error { panic(err) },
	"Goexit": func(error) error { runtime.Goexit(); return nil },
}

// apart runs do on its own goroutine, so that do may panic or call Goexit.
func apart(do func()) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer func() { recover() }()
		do()
	}()
	<-ended
}

// A section that fails while it writes commits nothing, and the next holder learns it.
func TestSectionThatFailsCommitsNothing(t *testing.T) {
	errBody := errors.New("body")
	for name, fail := range failures {
		for _, undo := range []bool{false, true} {
			var h Handle
			var p Pair
			for kind, g := range map[string]asker{"handle": &h, "pair": &p} {
				t.Run(fmt.Sprintf("%s of a %s undo %t", name, kind, undo), func(t *testing.T) {
					r, err := resource.NewWith("r", 8, resource.Options{Undo: undo})
					fine(t, err)
					fine(t, g.Request(r, resource.Write))
					apart(func() {
						Section(t.Context(), g, func() error {
							s, err := Write[uint64](g)
							fine(t, err)
							s[0] = 7
							return fail(errBody)
						})
					})
					if place := g.held().Place(); place.Held() || place.Requested() {
						t.Fatalf("afterwards: held %t, requested %t", place.Held(), place.Requested())
					}
					if p.Iteration() != 0 {
						t.Errorf("iteration %d after an access that was not released", p.Iteration())
					}
					var after Handle
					fine(t, after.Request(r, resource.Read))
					fine(t, after.Acquire(t.Context()))
					v, err := Read[uint64](&after)
					fine(t, err)
					switch {
					case undo && (!errors.Is(after.Prior(), resource.ErrPriorHolderLost) || v.At(0) != 0 || after.Version() != 0):
						t.Errorf("version %d is %d, prior %v, want version 0, 0", after.Version(), v.At(0), after.Prior())
					case !undo && !errors.Is(after.Prior(), resource.ErrPoisoned):
						t.Errorf("prior is %v", after.Prior())
					}
					if want := map[string]error{"error": errBody}[name]; !undo && !errors.Is(after.Prior(), cmp.Or(want, ErrUnfinished)) {
						t.Errorf("prior is %v, without the reason", after.Prior())
					}
				})
			}
		}
	}
}

// A section that fails before it writes only releases.
func TestSectionThatFailsWithoutAWrite(t *testing.T) {
	for name, fail := range failures {
		for _, m := range []resource.Mode{resource.Read, resource.Write} {
			t.Run(fmt.Sprint(name, m), func(t *testing.T) {
				r, err := resource.NewWith("r", 8, resource.Options{Policy: resource.Abort})
				fine(t, err)
				var h, after Handle
				fine(t, h.Request(r, m))
				apart(func() {
					Section(t.Context(), &h, func() error {
						_, err := Read[uint64](&h)
						fine(t, err)
						return fail(errors.New("body"))
					})
				})
				fine(t, after.Request(r, resource.Read))
				fine(t, after.Acquire(t.Context()))
				if after.Prior() != nil || after.Version() != 0 {
					t.Errorf("version %d, prior %v", after.Version(), after.Prior())
				}
			})
		}
	}
}

// A turn that succeeds announces the next access of a pair. A turn that fails does not.
func TestTurn(t *testing.T) {
	errBody := errors.New("body")
	var h Handle
	var p Pair
	for name, g := range map[string]asker{"handle": &h, "pair": &p} {
		t.Run(name, func(t *testing.T) {
			r := newResource(t, 8)
			place := g.held().Place()
			fine(t, g.Request(r, resource.Write))
			fine(t, Turn(t.Context(), g, func() error {
				if !place.Held() {
					t.Error("not held in the turn")
				}
				return nil
			}))
			if place.Held() || place.Requested() != (name == "pair") {
				t.Errorf("afterwards: held %t, requested %t", place.Held(), place.Requested())
			}
			if name == "handle" {
				fine(t, g.Request(r, resource.Write))
			}
			if err := Turn(t.Context(), g, func() error { return errBody }); !errors.Is(err, errBody) {
				t.Error(err)
			}
			free(t, r)
			first := holder(t, r)
			fine(t, g.Request(r, resource.Write))
			if err := Turn(ended(), g, func() error { t.Error("the body ran"); return nil }); !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
			fine(t, first.Release())
			free(t, r)
		})
	}
}

// A vector's Next announces the next accesses of its pairs and releases its handles.
func TestVectorNext(t *testing.T) {
	v, rs := trio(t, 8)
	fine(t, v.Request(ToWrite(rs[0]), ToWrite(rs[1]), ToRead(rs[2])))
	for round := range 3 {
		fine(t, v.Acquire(t.Context()))
		fine(t, v.Next())
		for i, g := range v {
			if place := g.held().Place(); place.Held() || place.Requested() != (i > 0) {
				t.Errorf("round %d, member %d: held %t, requested %t", round, i, place.Held(), place.Requested())
			}
		}
		if err := v.Next(); !errors.Is(err, resource.ErrNotHeld) {
			t.Errorf("a second Next: %v", err)
		}
		fine(t, v[0].Request(rs[0], resource.Write))
	}
	fine(t, v.Cancel())
}
