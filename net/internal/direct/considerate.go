package direct

import (
	"runtime"
	"time"

	"github.com/orwl/go-orwl/net/internal/considerate"
)

// now is the time by the rank's own clock, and never 0.
func (w *Window) now() time.Duration { return time.Since(w.born) + 1 }

// HandedOver implements rma.Considerate.
func (w *Window) HandedOver() { w.turns.HandedOver(w.now()) }

// Returns implements rma.Considerate. It does what package considerate says.
func (w *Window) Returns(turns int) (again int) {
	act := w.turns.Returns(turns, w.slept, w.now())
	for ; act.Do != considerate.GoOn; act = w.turns.Next(w.now()) {
		switch act.Do {
		case considerate.Spin:
			relax(spinRelax)
		case considerate.Offer:
			runtime.Gosched()
		case considerate.Sleep:
			w.world.Sleeper.Rest(act.For)
		}
	}
	if act.Look {
		w.spin.Look()
		w.slept = false
	}
	return w.turns.Again()
}
