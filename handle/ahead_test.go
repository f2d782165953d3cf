package handle

import (
	"context"
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/orwl/go-orwl/orwl/liveness"
	"github.com/orwl/go-orwl/resource"
)

// ring is a pair with turns ahead, and what is expected of it.
type ring struct {
	Pair
	mode  resource.Mode
	turns []resource.ID // announced, in their order
	holds bool          // the first of them
	goes  bool          // has ended a turn
}

// TestAheadIsAFIFO calls pairs with turns ahead in any order, right or wrong, and compares
// them with liveness.FIFO: each turn is a request of its own, and they come in their order.
func TestAheadIsAFIFO(t *testing.T) {
	full, drained := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		right := rightIn(t)
		wrong := func(err, want error) {
			t.Helper()
			if !errors.Is(err, want) {
				t.Fatalf("got %v, want %v", err, want)
			}
		}
		r, err := resource.New("r", 8)
		right(err)
		var fifo liveness.FIFO
		var ids resource.ID
		var value, version uint64
		rings := make([]*ring, 4)
		for i := range rings {
			rings[i] = new(ring)
			right(rings[i].Ahead(i))
		}
		begin := func(u *ring) {
			ids++
			u.turns = append(u.turns, ids)
			_, err := fifo.Request(ids, u.mode, nil)
			right(err)
		}
		granted := func(u *ring) bool { yes, _ := fifo.Granted(u.turns[0]); return yes }
		leave := func(u *ring) {
			_, err := fifo.Release(u.turns[0], nil)
			right(err)
			u.turns, u.holds, u.goes = u.turns[1:], false, true
		}
		withdraw := func(u *ring) {
			for _, id := range u.turns {
				_, err := fifo.Cancel(id, nil)
				if errors.Is(err, resource.ErrGranted) {
					_, err = fifo.Release(id, nil)
				}
				right(err)
			}
			u.turns, u.holds = nil, false
		}
		one := rapid.IntRange(0, len(rings)-1)
		at := func(step func(t *rapid.T, u *ring)) func(*rapid.T) {
			return func(t *rapid.T) { step(t, rings[one.Draw(t, "pair")]) }
		}
		t.Repeat(map[string]func(*rapid.T){
			"request": at(func(t *rapid.T, u *ring) {
				m := resource.Mode(rapid.IntRange(0, 1).Draw(t, "mode"))
				err := u.Request(r, m)
				switch {
				case len(u.turns) == 0:
					u.mode, u.goes = m, false
				case u.goes || u.holds || len(u.turns) == 1+u.Depth():
					wrong(err, resource.ErrRequested)
					return
				case m != u.mode:
					wrong(err, ErrAhead)
					return
				}
				right(err)
				begin(u)
				if len(u.turns) == 1+u.Depth() {
					full++
				}
			}),
			"fill": at(func(t *rapid.T, u *ring) {
				if len(u.turns) > 0 {
					return
				}
				u.mode, u.goes = resource.Read, false
				for range 1 + u.Depth() {
					right(u.Request(r, u.mode))
					begin(u)
				}
				full++
				if granted(u) && u.Depth() > 0 {
					right(u.Acquire(ended()))
					right(u.Drain())
					leave(u)
					drained++
				}
			}),
			"acquire": at(func(t *rapid.T, u *ring) {
				err := u.Acquire(ended())
				switch {
				case len(u.turns) == 0:
					wrong(err, resource.ErrNotRequested)
				case u.holds:
					wrong(err, resource.ErrHeld)
				case !granted(u):
					wrong(err, context.Canceled)
				default:
					right(err)
					u.holds = true
					if u.Version() != version {
						t.Fatalf("version %d, want %d", u.Version(), version)
					}
				}
			}),
			"next": at(func(t *rapid.T, u *ring) {
				err := u.Next()
				if !u.holds {
					wrong(err, resource.ErrNotHeld)
					return
				}
				right(err)
				begin(u)
				leave(u)
			}),
			"drain": at(func(t *rapid.T, u *ring) {
				err := u.Drain()
				if !u.holds {
					wrong(err, resource.ErrNotHeld)
					return
				}
				right(err)
				leave(u)
				if len(u.turns) > 0 {
					drained++
				}
			}),
			"release": at(func(t *rapid.T, u *ring) {
				err := u.Release()
				if !u.holds {
					wrong(err, resource.ErrNotHeld)
					return
				}
				right(err)
				leave(u)
				withdraw(u)
			}),
			"cancel": at(func(t *rapid.T, u *ring) {
				err := u.Cancel()
				switch {
				case len(u.turns) == 0:
					wrong(err, resource.ErrNotRequested)
				case u.holds:
					wrong(err, resource.ErrHeld)
				default:
					right(err)
					withdraw(u)
				}
			}),
			"leave": at(func(t *rapid.T, u *ring) {
				right(Vector{u}.Cancel())
				withdraw(u)
			}),
			"ahead": at(func(t *rapid.T, u *ring) {
				if err := u.Ahead(u.Depth()); len(u.turns) > 0 {
					wrong(err, ErrAhead)
				} else {
					right(err)
				}
			}),
			"write": at(func(t *rapid.T, u *ring) {
				if u.holds && u.mode == resource.Write {
					s, err := Write[uint64](u)
					right(err)
					value++
					s[0] = value
					right(u.Next())
					version++
					begin(u)
					leave(u)
				}
			}),
			"read": at(func(t *rapid.T, u *ring) {
				v, err := Read[uint64](u)
				if !u.holds {
					wrong(err, resource.ErrNotHeld)
				} else if right(err); v.At(0) != value {
					t.Fatalf("%d, want %d", v.At(0), value)
				}
			}),
			"": func(*rapid.T) {
				for i, u := range rings {
					want := Requested
					switch {
					case len(u.turns) == 0:
						want = Idle
					case u.holds:
						want = Held
					case granted(u):
						want = Granted
					}
					if got := u.Test(); got != want {
						t.Fatalf("pair %d is %v, want %v", i, got, want)
					}
					if n := len(slices.DeleteFunc(slices.Collect(u.Places()), func(p *resource.Place) bool { return !p.Held() && !p.Requested() })); n != len(u.turns) {
						t.Fatalf("pair %d has %d requests, want %d", i, n, len(u.turns))
					}
				}
			},
		})
	})
	if full == 0 || drained == 0 {
		t.Errorf("%d pairs announced all turns, %d went on after Drain", full, drained)
	}
}

// Wrong calls fail, and change nothing.
func TestAheadMisuse(t *testing.T) {
	var p Pair
	for _, k := range []int{-1, MostAhead + 1} {
		if err := p.Ahead(k); !errors.Is(err, ErrAhead) || p.Depth() != 0 {
			t.Errorf("%d: %v", k, err)
		}
	}
	if MostAhead != liveness.MostAhead {
		t.Error("handle and liveness differ")
	}
	r, other := newResource(t, 8), newResource(t, 8)
	fine(t, p.Ahead(1))
	fine(t, p.Request(r, resource.Write))
	if err := p.Request(other, resource.Write); !errors.Is(err, ErrAhead) {
		t.Errorf("another resource: %v", err)
	}
	if err := p.Ahead(0); !errors.Is(err, ErrAhead) || !errors.Is(err, resource.ErrRequested) {
		t.Errorf("too late: %v", err)
	}
	fine(t, p.Cancel())
	fine(t, p.Ahead(0))
	fine(t, p.Request(other, resource.Read))
}

// A failed body takes all announced turns back, and so does a section that cannot begin.
func TestAheadIsWithdrawn(t *testing.T) {
	for name, fail := range map[string]func(p *Pair) error{
		"body":    func(p *Pair) error { return Turn(context.Background(), p, func() error { return errFire }) },
		"abandon": func(p *Pair) error { return errors.Join(p.Acquire(ended()), p.Abandon(errFire), errFire) },
		"vector":  func(p *Pair) error { return errors.Join(Vector{p}.Abandon(errFire), errFire) },
	} {
		t.Run(name, func(t *testing.T) {
			r := newResource(t, 8)
			var p Pair
			fine(t, p.Ahead(2))
			for range 3 {
				fine(t, p.Request(r, resource.Write))
			}
			if err := fail(&p); !errors.Is(err, errFire) {
				t.Error(err)
			}
			free(t, r)
		})
	}
	t.Run("context", func(t *testing.T) {
		r := newResource(t, 8)
		var first Handle
		var p Pair
		fine(t, first.Request(r, resource.Write))
		fine(t, p.Ahead(2))
		for range 3 {
			fine(t, p.Request(r, resource.Write))
		}
		if err := Section(ended(), &p, func() error { return nil }); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		fine(t, first.Cancel())
		free(t, r)
	})
}
