// Package patience is the rule by which a rank that waits looks at its word before it sleeps. The windows of
// ranks that share memory follow it, and so does the simulator.
//
// To look pays if the rank that will change the word runs on another processor right now. If not, it wastes a
// processor. A rank learns which of the two holds: a wait that ends while it looks doubles the next wait's
// looks, and a wait that has to sleep halves them.
//
//	for range r.Begin() {
//		// look at the word; if it is as awaited, call r.Paid and go on
//	}
//	r.Wasted() // if it has looked at all; then sleep
//
// The package has no clock and no locks. A look's length is the caller's.
package patience
