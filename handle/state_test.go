package handle

import (
	"fmt"
	"slices"
	"testing"

	"github.com/orwl/go-orwl/internal/queue"
)

// state is how far an access has come.
type state uint8

const (
	isIdle      state = iota
	isRequested       // Acquire would wait
	isGranted
	isHeld
)

func (s state) String() string { return [...]string{"idle", "requested", "granted", "held"}[s] }

func (h *Handle) state() state {
	switch {
	case h.place.Held():
		return isHeld
	case !h.place.Requested():
		return isIdle
	case h.Test():
		return isGranted
	}
	return isRequested
}

// An access passes all states, in order. Test tells those in which Acquire would return at once.
func TestStates(t *testing.T) {
	r := newResource(t, 8)
	first := holder(t, r)
	var h Handle
	var passed []state
	var tests []bool
	note := func() { passed, tests = append(passed, h.state()), append(tests, h.Test()) }
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
	if want := []bool{false, false, true, true, false}; !slices.Equal(tests, want) {
		t.Errorf("Test said %v, want %v", tests, want)
	}
}

// A broken resource grants nothing, but Acquire returns at once.
func TestStateOfABrokenResource(t *testing.T) {
	r := newResource(t, 8)
	holder(t, r)
	var h Handle
	fine(t, h.Request(r, queue.Write))
	(*queue.Resource)(r).Break(errFire)
	if got := h.state(); got != isGranted {
		t.Errorf("%v, want granted", got)
	}
}
