package handle

import (
	"errors"
	"testing"

	"github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/resource"
)

// trio is a vector of a handle and two pairs, for three resources.
func trio(t *testing.T, size int) (v Vector, rs [3]*resource.Resource) {
	t.Helper()
	for i := range rs {
		rs[i] = newResource(t, size)
	}
	return Vector{new(Handle), new(Pair), new(Pair)}, rs
}

// Request announces each access with its mode, in the order of the vector.
func TestVectorRequest(t *testing.T) {
	v, rs := trio(t, 8)
	var behind [3]Handle
	fine(t, v.Request(ToRead(rs[0]), ToWrite(rs[1]), ToWrite(rs[2])))
	for i, r := range rs {
		fine(t, behind[i].Request(r, queue.Read))
	}
	fine(t, v.Acquire(ended()))
	for i, g := range v {
		place := &g.held().place
		if want := []queue.Mode{queue.Read, queue.Write, queue.Write}[i]; place.Mode() != want || (*resource.Resource)(place.Resource()) != rs[i] {
			t.Errorf("member %d is a %v, want a %v of its resource", i, place.Mode(), want)
		}
		if granted := behind[i].place.Granted(); granted != (i == 0) {
			t.Errorf("a reader behind member %d is granted: %t", i, granted)
		}
	}
	fine(t, v.cancel())
}

// If one request fails, the queues are as before it, and each member too.
func TestVectorRequestIsAllOrNothing(t *testing.T) {
	for name, c := range map[string]struct {
		wants func(rs [3]*resource.Resource) []Want
		want  error
	}{
		"the last is requested already": {func(rs [3]*resource.Resource) []Want {
			return []Want{ToWrite(rs[0]), ToWrite(rs[1]), ToWrite(rs[2])}
		}, queue.ErrRequested},
		"no such mode": {func(rs [3]*resource.Resource) []Want {
			return []Want{ToWrite(rs[0]), ToWrite(rs[1]), {rs[2], 7}}
		}, queue.ErrMode},
		"a resource to write and to read": {func(rs [3]*resource.Resource) []Want {
			return []Want{ToWrite(rs[0]), ToWrite(rs[1]), ToRead(rs[0])}
		}, errTwice},
		"a resource to read and to write": {func(rs [3]*resource.Resource) []Want {
			return []Want{ToRead(rs[0]), ToWrite(rs[1]), ToWrite(rs[0])}
		}, errTwice},
		"too few wants": {func(rs [3]*resource.Resource) []Want {
			return []Want{ToWrite(rs[0]), ToWrite(rs[1])}
		}, errWants},
		"too many wants": {func(rs [3]*resource.Resource) []Want {
			return []Want{ToWrite(rs[0]), ToWrite(rs[1]), ToWrite(rs[2]), ToWrite(rs[2])}
		}, errWants},
	} {
		t.Run(name, func(t *testing.T) {
			v, rs := trio(t, 8)
			if c.want == queue.ErrRequested {
				fine(t, v[2].held().Request(rs[2], queue.Read))
			}
			if err := v.Request(c.wants(rs)...); !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
			for i, g := range v[:2] {
				if place := &g.held().place; place.Requested() || place.Held() {
					t.Errorf("member %d has a request", i)
				}
				free(t, rs[i])
			}
			if got := v[2].held().place.Requested(); got != (c.want == queue.ErrRequested) {
				t.Errorf("the last member has a request: %t", got)
			}
		})
	}
}

// Two members may read the same resource.
func TestVectorReadsAResourceTwice(t *testing.T) {
	v, rs := trio(t, 8)
	fine(t, v.Request(ToRead(rs[0]), ToWrite(rs[1]), ToRead(rs[0])))
	fine(t, v.Acquire(ended()))
	fine(t, v.cancel())
}

// Write and ReadAll map each member's own bytes.
func TestVectorMaps(t *testing.T) {
	v, rs := trio(t, 16)
	fine(t, v.Request(ToWrite(rs[0]), ToWrite(rs[1]), ToWrite(rs[2])))
	fine(t, v.Acquire(t.Context()))
	for i, g := range v {
		s, err := Write[float64](g)
		fine(t, err)
		s[1] = float64(i + 1)
	}
	views, err := ReadAll[float64](v[1:])
	fine(t, err)
	if len(views) != 2 || views[0].At(1) != 2 || views[1].At(1) != 3 {
		t.Errorf("views %v", views)
	}
	fine(t, v.cancel())
	for i, r := range rs {
		h := holder(t, r)
		if got, err := Read[float64](h); err != nil || got.At(1) != float64(i+1) || h.place.Version() != 1 {
			t.Errorf("resource %d has %v in version %d, %v", i, got, h.place.Version(), err)
		}
	}
}

// If one member cannot be mapped, the error names it, and no member counts as written.
func TestVectorMapsAllOrNothing(t *testing.T) {
	for name, c := range map[string]struct {
		hold bool
		use  func(v Vector) error
		want error
		text string
	}{
		"not held": {false, func(v Vector) error { _, err := ReadAll[float64](v); return err }, queue.ErrNotHeld,
			`handle: member 2 of the vector: resource: map of "grid" (write): not acquired: acquire it first`},
		"wrong length": {true, func(v Vector) error { _, err := ReadAll[[3]float64](v); return err }, nil,
			`handle: member 0 of the vector: handle: the 8 bytes of "grid" are no whole number of [3]float64, which has 24 bytes: resize the resource to a multiple of 24, or view a type that fits`},
	} {
		t.Run(name, func(t *testing.T) {
			v, rs := trio(t, 8)
			fine(t, v.Request(ToWrite(rs[0]), ToWrite(rs[1]), ToWrite(rs[2])))
			fine(t, v[:2].Acquire(t.Context()))
			if c.hold {
				fine(t, v.Acquire(t.Context()))
			}
			err := c.use(v)
			if err == nil || err.Error() != c.text || c.want != nil && !errors.Is(err, c.want) {
				t.Errorf("got  %v\nwant %s", err, c.text)
			}
			fine(t, v.cancel())
			for i, r := range rs {
				if h := holder(t, r); h.place.Version() != 0 {
					t.Errorf("resource %d has version %d, but nothing was written", i, h.place.Version())
				}
			}
		})
	}
	var idle Handle
	if _, err := ReadAll[float64](Vector{&idle}); !errors.Is(err, queue.ErrNotHeld) || err.Error() != `handle: member 0 of the vector: resource: map: not acquired: acquire it first` {
		t.Errorf("an idle handle: %v", err)
	}
}

// An empty vector does nothing, successfully.
func TestEmptyVector(t *testing.T) {
	var v Vector
	views, err := ReadAll[float64](v)
	if len(views) != 0 || err != nil {
		t.Errorf("%v %v", views, err)
	}
	fine(t, errors.Join(v.Request(), v.Acquire(ended()), v.Next(), v.cancel(), v.Abandon(errFire)))
}
