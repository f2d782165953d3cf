package direct

import (
	"context"
	"sync/atomic"

	"github.com/orwl/go-orwl/internal/invariant"
	"github.com/orwl/go-orwl/net/rma"
)

// Await implements rma.Window.
//
// The goroutine parks in this function and not in one below it. A goroutine that
// wakes up pays for every function that it returns from, since the processor
// predicts none of these returns: three more of them were a tenth of a hand-over.
func (w *Window) Await(ctx context.Context, target rma.Rank, disp rma.Disp, until rma.Until) (uint64, error) {
	segment, word := w.near(target, disp)
	if word == nil {
		if segment, word = w.far("Await", target, disp); w.failed.Load() {
			return 0, w.err
		}
	}
	if value := atomic.LoadUint64(word); until.Holds(value) {
		return value, nil
	}
	if value, ok := w.spinOn(word, until); ok {
		return value, nil
	}
	if invariant.Enabled {
		invariant.Check(w.waits.CompareAndSwap(false, true),
			"rank %d waits twice at once: its window is used by two goroutines", w.rank)
		defer w.waits.Store(false)
	}
	w.room.expect(target, disp, until)
	w.word, w.until = word, until
	var place *uint32
	if target != w.rank {
		place = segment.announce(w.rank, disp, until)
	}
	var stop func() bool
	if ctx.Done() != nil {
		stop = context.AfterFunc(ctx, w.nudge)
	}
	for {
		if w.parks {
			w.place.Park()
		} else {
			w.world.Sleeper.Sleep(w.rank, w.dozeOff)
		}
		over, value, err := w.over(ctx)
		if !over {
			continue
		}
		if stop != nil {
			stop()
		}
		if target != w.rank {
			segment.withdraw(w.rank, disp, place)
		}
		return value, err
	}
}

// doze announces that the rank sleeps, and looks a last time whether it should:
// steps 3 and 4 of the package documentation. The window may be in another wait as
// soon as the announcement is made.
func (w *Window) doze() {
	word, until := w.word, w.until
	w.room.doze()
	if (until.Holds(atomic.LoadUint64(word)) || w.nudged.Load()) && w.room.Awaken() {
		w.world.wake(w.rank)
	}
}

// over reports whether a wait ends, and how. A failure of the window comes first,
// then the end of an epoch, then the condition, then the context. It reads the context before the word: if
// a rank makes the condition true and then ends the context, the wait succeeds.
func (w *Window) over(ctx context.Context) (bool, uint64, error) {
	if w.nudged.Load() {
		w.nudged.Store(false) // before it looks for the reason
	}
	if w.failed.Load() {
		return true, 0, w.err
	}
	if e := w.endsOf; e != nil && e.Ended().Load() {
		return true, 0, e.Err()
	}
	ended := ctx.Err()
	if value := atomic.LoadUint64(w.word); w.until.Holds(value) {
		return true, value, nil
	}
	return ended != nil, 0, ended
}

// spinOn looks at the word for a moment, for as long as that has been worth it.
func (w *Window) spinOn(word *uint64, until rma.Until) (uint64, bool) {
	looks := w.spin.Begin()
	for range looks {
		relax(spinRelax)
		if value := atomic.LoadUint64(word); until.Holds(value) {
			w.spin.Paid()
			w.slept = false
			return value, true
		}
	}
	if w.slept = true; looks > 0 {
		w.spin.Wasted()
	}
	return 0, false
}
