package handle

import (
	"context"
	"errors"
	"testing"

	"pgregory.net/rapid"

	"github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/orwl/liveness"
	"github.com/orwl/go-orwl/resource"
)

// fine ends a test at an error.
func fine(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func newResource(t testing.TB, size int) *resource.Resource {
	t.Helper()
	r, err := queue.New("grid", size)
	fine(t, err)
	return (*resource.Resource)(r)
}

// ended returns a context that has ended.
func ended() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

// asker has the methods of both Handle and Pair.
type asker interface {
	Grant
	Request(r *resource.Resource, m resource.Mode) error
	Acquire(ctx context.Context) error
	state() state
	Release() error
	Cancel() error
	Prefetch() Prefetch
}

// errFire is why something breaks.
var errFire = errors.New("the server is on fire")

// free ends a test if a request is in the queue of r.
func free(t *testing.T, r *resource.Resource) {
	t.Helper()
	var h Handle
	fine(t, h.Request(r, resource.Write))
	if got := h.state(); got != isGranted {
		t.Errorf("a request is left in the queue: the next one is %v", got)
	}
	fine(t, h.Cancel())
}

// user is a handle or a pair, and its expected state.
type user struct {
	asker
	pair           *Pair // nil: a handle
	id             queue.ID
	mode           queue.Mode
	holds, wrote   bool
	fence, version uint64
}

// rightIn returns a check that ends the test at an error.
func rightIn(t *rapid.T) func(error) {
	return func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestHandlesAreAFIFO calls handles and pairs of one resource in any order, right or
// wrong, and compares them with liveness.FIFO.
func TestHandlesAreAFIFO(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		right := rightIn(t)
		wrong := func(err, want error) {
			t.Helper()
			var e *queue.PlaceError
			if !errors.Is(err, want) || !errors.As(err, &e) {
				t.Fatalf("got %v, want the PlaceError %v", err, want)
			}
		}
		r, err := queue.New("r", 8)
		right(err)
		var fifo liveness.FIFO
		var ids queue.ID
		var fence, version uint64
		var value float64
		users := make([]*user, 6)
		for i := range users {
			if i%2 == 0 {
				users[i] = &user{asker: new(Handle)}
			} else {
				p := new(Pair)
				users[i] = &user{asker: p, pair: p}
			}
		}
		granted := func(u *user) bool { yes, _ := fifo.Granted(u.id); return yes }
		begin := func(u *user, m queue.Mode) {
			ids++
			u.id, u.mode, u.holds = ids, m, false
			_, err := fifo.Request(u.id, m, nil)
			right(err)
		}
		leave := func(u *user, again bool) {
			old := u.id
			if u.wrote {
				version++
			}
			u.id, u.holds, u.wrote = 0, false, false
			if again {
				begin(u, u.mode)
			}
			_, err := fifo.Release(old, nil)
			right(err)
		}
		one := rapid.IntRange(0, len(users)-1)
		at := func(step func(*user)) func(*rapid.T) {
			return func(t *rapid.T) { step(users[one.Draw(t, "user")]) }
		}
		t.Repeat(map[string]func(*rapid.T){
			"request": func(t *rapid.T) {
				u := users[one.Draw(t, "user")]
				m := queue.Mode(rapid.IntRange(0, 1).Draw(t, "mode"))
				err := u.Request((*resource.Resource)(r), m)
				if u.id != 0 {
					wrong(err, queue.ErrRequested)
					return
				}
				right(err)
				begin(u, m)
			},
			"acquire": at(func(u *user) {
				err := u.Acquire(ended())
				switch {
				case u.id == 0:
					wrong(err, queue.ErrNotRequested)
				case u.holds:
					wrong(err, queue.ErrHeld)
				case !granted(u):
					wrong(err, context.Canceled)
				default:
					right(err)
					u.holds = true
					if u.mode == queue.Write {
						fence++
					}
					u.fence, u.version = fence, version
				}
			}),
			"release": at(func(u *user) {
				err := u.Release()
				if !u.holds {
					wrong(err, queue.ErrNotHeld)
					return
				}
				right(err)
				leave(u, false)
			}),
			"next": at(func(u *user) {
				if u.pair == nil {
					return
				}
				err := u.pair.Next()
				if !u.holds {
					wrong(err, queue.ErrNotHeld)
					return
				}
				right(err)
				leave(u, true)
			}),
			"cancel": at(func(u *user) {
				err := u.Cancel()
				switch {
				case u.id == 0:
					wrong(err, queue.ErrNotRequested)
					return
				case u.holds:
					wrong(err, queue.ErrHeld)
					return
				}
				right(err)
				if _, err = fifo.Cancel(u.id, nil); errors.Is(err, queue.ErrGranted) {
					_, err = fifo.Release(u.id, nil)
				}
				right(err)
				u.id = 0
			}),
			"write": at(func(u *user) {
				s, err := Write[float64](u)
				switch {
				case !u.holds:
					wrong(err, queue.ErrNotHeld)
				case u.mode == queue.Read:
					wrong(err, queue.ErrReadOnly)
				default:
					right(err)
					value++
					s[0], u.wrote = value, true
				}
			}),
			"read": at(func(u *user) {
				v, err := Read[float64](u)
				if !u.holds {
					wrong(err, queue.ErrNotHeld)
					return
				}
				right(err)
				if v.Len() != 1 || v.At(0) != value {
					t.Fatalf("%d elements, the first is %v, want %v", v.Len(), v.At(0), value)
				}
			}),
			"": func(*rapid.T) {
				for i, u := range users {
					want := isRequested
					switch {
					case u.id == 0:
						want = isIdle
					case u.holds:
						want = isHeld
					case granted(u):
						want = isGranted
					}
					if got := u.state(); got != want {
						t.Fatalf("user %d is %v, want %v", i, got, want)
					}
					fence, version := uint64(0), uint64(0)
					if u.holds {
						fence, version = u.fence, u.version
					}
					if place := &u.held().place; place.Fence() != fence || place.Version() != version {
						t.Fatalf("user %d: fence %d, version %d, want %d, %d", i, place.Fence(), place.Version(), fence, version)
					}
				}
			},
		})
	})
}
