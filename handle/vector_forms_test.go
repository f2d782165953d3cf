package handle

import (
	"errors"
	"slices"
	"testing"

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
		fine(t, behind[i].Request(r, resource.Read))
	}
	fine(t, v.Acquire(ended()))
	for i, g := range v {
		place := g.held().Place()
		if want := []resource.Mode{resource.Read, resource.Write, resource.Write}[i]; place.Mode() != want || place.Resource() != rs[i] {
			t.Errorf("member %d is a %v, want a %v of its resource", i, place.Mode(), want)
		}
		if granted := behind[i].Place().Granted(); granted != (i == 0) {
			t.Errorf("a reader behind member %d is granted: %t", i, granted)
		}
	}
	fine(t, v.Cancel())
}

// If one request fails, the queues are as before it, and each member too.
func TestVectorRequestIsAllOrNothing(t *testing.T) {
	for name, c := range map[string]struct {
		wants func(rs [3]*resource.Resource) []Want
		want  error
	}{
		"the last is requested already": {func(rs [3]*resource.Resource) []Want {
			return []Want{ToWrite(rs[0]), ToWrite(rs[1]), ToWrite(rs[2])}
		}, resource.ErrRequested},
		"no such mode": {func(rs [3]*resource.Resource) []Want {
			return []Want{ToWrite(rs[0]), ToWrite(rs[1]), {rs[2], 7}}
		}, resource.ErrMode},
		"a resource to write and to read": {func(rs [3]*resource.Resource) []Want {
			return []Want{ToWrite(rs[0]), ToWrite(rs[1]), ToRead(rs[0])}
		}, ErrTwice},
		"a resource to read and to write": {func(rs [3]*resource.Resource) []Want {
			return []Want{ToRead(rs[0]), ToWrite(rs[1]), ToWrite(rs[0])}
		}, ErrTwice},
		"too few wants": {func(rs [3]*resource.Resource) []Want {
			return []Want{ToWrite(rs[0]), ToWrite(rs[1])}
		}, ErrWants},
		"too many wants": {func(rs [3]*resource.Resource) []Want {
			return []Want{ToWrite(rs[0]), ToWrite(rs[1]), ToWrite(rs[2]), ToWrite(rs[2])}
		}, ErrWants},
	} {
		t.Run(name, func(t *testing.T) {
			v, rs := trio(t, 8)
			if c.want == resource.ErrRequested {
				fine(t, v[2].Request(rs[2], resource.Read))
			}
			if err := v.Request(c.wants(rs)...); !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
			for i, g := range v[:2] {
				if place := g.held().Place(); place.Requested() || place.Held() {
					t.Errorf("member %d has a request", i)
				}
				free(t, rs[i])
			}
			if got := v[2].held().Place().Requested(); got != (c.want == resource.ErrRequested) {
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
	fine(t, v.Release())
}

// WriteAll and ReadAll map each member's own bytes.
func TestVectorMaps(t *testing.T) {
	v, rs := trio(t, 16)
	fine(t, v.Request(ToWrite(rs[0]), ToWrite(rs[1]), ToWrite(rs[2])))
	fine(t, v.Acquire(t.Context()))
	all, err := WriteAll[float64](v)
	fine(t, err)
	for i, s := range all {
		s[1] = float64(i + 1)
	}
	views, err := ReadAll[float64](v[1:])
	fine(t, err)
	if len(all) != 3 || len(views) != 2 || views[0].At(1) != 2 || views[1].At(1) != 3 {
		t.Errorf("slices %v, views %v", all, views)
	}
	fine(t, v.Cancel())
	for i, r := range rs {
		h := holder(t, r)
		if got, err := Read[float64](h); err != nil || got.At(1) != float64(i+1) || h.Version() != 1 {
			t.Errorf("resource %d has %v in version %d, %v", i, got, h.Version(), err)
		}
	}
}

// If one member cannot be mapped, the error names it, and no member counts as written.
func TestVectorMapsAllOrNothing(t *testing.T) {
	type use = func(v Vector) error
	write := func(v Vector) error { _, err := WriteAll[float64](v); return err }
	for name, c := range map[string]struct {
		last resource.Mode
		hold bool
		use  use
		want error
		text string
	}{
		"a reader": {resource.Read, true, write, resource.ErrReadOnly,
			`handle: member 2 of the vector: resource: map of "grid" (read): held for reading: request it for writing`},
		"not held": {resource.Write, false, write, resource.ErrNotHeld,
			`handle: member 2 of the vector: resource: map of "grid" (write): not acquired: acquire it first`},
		"read, not held": {resource.Write, false, func(v Vector) error { _, err := ReadAll[float64](v); return err }, resource.ErrNotHeld,
			`handle: member 2 of the vector: resource: map of "grid" (write): not acquired: acquire it first`},
		"wrong length": {resource.Write, true, func(v Vector) error { _, err := WriteAll[[3]float64](v); return err }, nil,
			`handle: member 0 of the vector: handle: the 8 bytes of "grid" are no whole number of [3]float64, which has 24 bytes: resize the resource to a multiple of 24, or view a type that fits`},
	} {
		t.Run(name, func(t *testing.T) {
			v, rs := trio(t, 8)
			fine(t, v.Request(ToWrite(rs[0]), ToWrite(rs[1]), Want{rs[2], c.last}))
			fine(t, v[:2].Acquire(t.Context()))
			if c.hold {
				fine(t, v.Acquire(t.Context()))
			}
			err := c.use(v)
			if err == nil || err.Error() != c.text || c.want != nil && !errors.Is(err, c.want) {
				t.Errorf("got  %v\nwant %s", err, c.text)
			}
			fine(t, v.Cancel())
			for i, r := range rs {
				if h := holder(t, r); h.Version() != 0 {
					t.Errorf("resource %d has version %d, but nothing was written", i, h.Version())
				}
			}
		})
	}
	var idle Handle
	if _, err := ReadAll[float64](Vector{&idle}); !errors.Is(err, resource.ErrNotHeld) || err.Error() != `handle: member 0 of the vector: resource: map: not acquired: acquire it first` {
		t.Errorf("an idle handle: %v", err)
	}
}

// Resize gives all resources one size, or changes none.
func TestVectorResize(t *testing.T) {
	v, rs := trio(t, 8)
	sizes := func() []int {
		var all []int
		for _, r := range rs {
			all = append(all, r.Inspect().Size)
		}
		return all
	}
	fine(t, v.Request(ToWrite(rs[0]), ToWrite(rs[1]), ToRead(rs[2])))
	fine(t, v[:2].Acquire(t.Context()))
	fails := func(step string, err, want error) {
		t.Helper()
		if !errors.Is(err, want) || !slices.Equal(sizes(), []int{8, 8, 8}) {
			t.Errorf("%s: %v, sizes %v", step, err, sizes())
		}
	}
	fails("not held", v.Resize(32), resource.ErrNotHeld)
	fine(t, v.Acquire(t.Context()))
	fails("held to read", v.Resize(32), resource.ErrReadOnly)
	fails("12 bytes", v[:2].Resize(12), resource.ErrSize)
	fine(t, v[:2].Resize(32))
	if got := sizes(); !slices.Equal(got, []int{32, 32, 8}) {
		t.Errorf("sizes %v", got)
	}
	all, err := WriteAll[float64](v[:2])
	if err != nil || len(all[0]) != 4 || len(all[1]) != 4 {
		t.Errorf("slices %v, %v", all, err)
	}
}

// An empty vector does nothing, successfully.
func TestEmptyVector(t *testing.T) {
	var v Vector
	views, err := ReadAll[float64](v)
	slices, errWrite := WriteAll[float64](v)
	if len(views) != 0 || err != nil || len(slices) != 0 || errWrite != nil {
		t.Errorf("%v %v, %v %v", views, err, slices, errWrite)
	}
	fine(t, errors.Join(v.Request(), v.Acquire(ended()), v.Resize(8), v.Release(), v.Cancel(), v.Abandon(errFire)))
}
