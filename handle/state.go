package handle

import "strconv"

// State tells how far an access has come. States are ordered: Test() >= Granted means
// that no waiting is left.
type State uint8

// The states of an access, in the order in which it passes them.
const (
	// Idle: there is no request.
	Idle State = iota
	// Requested: the request is in the queue, and Acquire would wait.
	Requested
	// Granted: the request is granted, and Acquire would return at once. The requests
	// behind it wait until it is acquired and released, or cancelled.
	Granted
	// Held: the access is acquired and not yet released.
	Held
)

var states = [...]string{Idle: "idle", Requested: "requested", Granted: "granted", Held: "held"}

// String returns the state as one word.
func (s State) String() string {
	if int(s) < len(states) {
		return states[s]
	}
	return "State(" + strconv.Itoa(int(s)) + ")"
}

// Test tells the state of the access without waiting. The request of a broken resource is
// Granted: Acquire returns the error at once.
func (h *Handle) Test() State {
	switch {
	case h.place.Held():
		return Held
	case !h.place.Requested():
		return Idle
	case h.place.Granted():
		return Granted
	}
	return Requested
}
