package handle

import (
	"fmt"
	"testing"

	"github.com/orwl/go-orwl/internal/queue"
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
	fine(t, h.Request(r, queue.Write))
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
	fine(t, h.Request(r, queue.Write))
	(*queue.Resource)(r).Break(errFire)
	if got := h.Test(); got != Granted {
		t.Errorf("%v, want granted", got)
	}
}
