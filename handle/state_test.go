package handle

import (
	"fmt"
	"testing"

	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/net/mem"
	"github.com/orwl/go-orwl/net/topology"
	"github.com/orwl/go-orwl/resource"
)

// An access passes all states, in order. Test tells requested from granted and granted
// from held.
func TestStates(t *testing.T) {
	r := newResource(t, 8)
	first := holder(t, r)
	var h Handle
	var passed []State
	note := func() { passed = append(passed, h.Test()) }
	note()
	fine(t, h.Request(r, resource.Write))
	note()
	fine(t, first.Release())
	note()
	fine(t, h.Acquire(ended()))
	note()
	fine(t, h.Release())
	note()
	if got, want := fmt.Sprint(passed), "[idle requested granted held idle]"; got != want {
		t.Errorf("passed %s, want %s", got, want)
	}
	if got := State(9).String(); got != "State(9)" {
		t.Error(got)
	}
}

// A broken resource grants nothing, but Acquire returns at once.
func TestStateOfABrokenResource(t *testing.T) {
	r := newResource(t, 8)
	holder(t, r)
	var h Handle
	fine(t, h.Request(r, resource.Write))
	r.Break(errFire)
	if got := h.Test(); got != Granted {
		t.Errorf("%v, want granted", got)
	}
}

// A vector with an idle member is idle, wherever the member stands.
func TestStateOfAVector(t *testing.T) {
	v, rs := trio(t, 8)
	first := holder(t, rs[0])
	fine(t, v[:2].Request(ToWrite(rs[0]), ToWrite(rs[1])))
	for _, c := range []struct {
		v    Vector
		want State
	}{
		{v, Idle}, // and the first waits
		{v[:2], Requested},
		{Vector{v[1], v[0]}, Requested},
		{v[1:2], Granted},
	} {
		if got := c.v.Test(); got != c.want {
			t.Errorf("%d members: %v, want %v", len(c.v), got, c.want)
		}
	}
	fine(t, first.Release())
	fine(t, v[:1].Acquire(ended()))
	if got := v[:2].Test(); got != Granted {
		t.Errorf("one held, one granted: %v", got)
	}
}

// doored is a resource with a relaxed door that is open.
func doored(t *testing.T) *resource.Resource {
	t.Helper()
	f, err := mem.New(mem.Options{Topology: topology.Flat(2)})
	fine(t, err)
	t.Cleanup(func() { f.Close() })
	spec, _ := locks.ByName("RMA-RW")
	r, err := resource.NewWith("doored", 8, resource.Options{Relaxed: resource.RelaxedOptions{Guard: func() (resource.Guard, error) {
		l, err := spec.New(f, locks.Options{})
		if err != nil {
			return resource.Guard{}, err
		}
		return resource.NewGuard(l, f)
	}}})
	fine(t, err)
	fine(t, r.Open(t.Context()))
	return r
}

// A test of a granted member keeps relaxed accesses out until the member is acquired. A
// vector that waits for another member must not do so.
func TestVectorThatWaitsKeepsTheRelaxedDoorOpen(t *testing.T) {
	nothing := func([]byte) error { return nil }
	busy, r := newResource(t, 8), doored(t)
	first := holder(t, busy)
	var h, g Handle
	v := Vector{&h, &g}
	fine(t, v.Request(ToWrite(busy), ToWrite(r)))
	if got := v.Test(); got != Requested {
		t.Errorf("%v, want requested", got)
	}
	if err := r.WriteRelaxed(ended(), nothing); err != nil {
		t.Errorf("a test of the vector has closed the relaxed door: %v", err)
	}
	fine(t, first.Release())
	if got := v.Test(); got != Granted {
		t.Errorf("%v, want granted", got)
	}
	if err := r.WriteRelaxed(ended(), nothing); err == nil {
		t.Error("the relaxed door is open, but Acquire must not wait for it")
	}
	fine(t, v.Acquire(ended()))
}
