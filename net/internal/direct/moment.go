package direct

import (
	"time"

	"github.com/orwl/go-orwl/net/rma"
)

var _ rma.Considerate = (*Window)(nil)

// moment is for how long a rank lets the one be that it has handed over to: twice
// what it takes a cache line to go to another processor and back.
const moment = 500 * time.Nanosecond

// Considers implements rma.Considerate: where there are processors enough, and where
// it does not take longer to ask than to park.
func (w *Window) Considers() bool { return !w.parks && w.spin.Yield == nil }

// GaveWay implements rma.Considerate. That the other one looks at its word right
// now is to be supposed if this one did so when it waited for the last time.
func (w *Window) GaveWay() {
	if w.looked {
		w.gaveWay = time.Now()
	}
}

// LetBe implements rma.Considerate.
func (w *Window) LetBe() {
	if w.gaveWay.IsZero() {
		return
	}
	if left := moment - time.Since(w.gaveWay); left > 0 {
		relax(uint32(Looks(left) * spinRelax))
	}
	w.gaveWay = time.Time{}
}
