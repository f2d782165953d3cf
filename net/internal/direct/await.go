package direct

import (
	"context"
	"sync/atomic"

	"github.com/orwl/go-orwl/internal/invariant"
	"github.com/orwl/go-orwl/net/rma"
)

// Await implements rma.Window.
//
// A goroutine that comes back from where it was parked pays for every function
// that it returns from on its way out, since the processor predicts none of these
// returns; three more of them were a tenth of the time of a hand-over. That is
// why the wait of nearly everybody is here and not in a function of its own.
func (w *Window) Await(ctx context.Context, target rma.Rank, disp rma.Disp, until rma.Until) (uint64, error) {
	segment, word := w.near(target, disp)
	if word == nil {
		if segment, word = w.far("Await", target, disp); word == nil {
			return 0, w.Err()
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
	if ctx.Done() != nil || !w.parks {
		return w.await(ctx, segment, disp)
	}
	var place *uint32
	if target != w.rank {
		place = segment.announce(w.rank, disp, until)
	}
	for {
		w.place.Park()
		if value := atomic.LoadUint64(word); until.Holds(value) && !w.failed.Load() {
			if target != w.rank {
				segment.withdraw(w.rank, disp, place)
			}
			return value, nil
		}
		if over, value, err := w.over(ctx); over {
			if target != w.rank {
				segment.withdraw(w.rank, disp, place)
			}
			return value, err
		}
	}
}

// await is the rest of Await with a context that may end the wait, and where ranks
// sleep in the kernel.
func (w *Window) await(ctx context.Context, segment *Segment, disp rma.Disp) (uint64, error) {
	if segment.Room != w.room {
		place := segment.announce(w.rank, disp, w.until)
		defer segment.withdraw(w.rank, disp, place)
	}
	if ctx.Done() != nil {
		stop := context.AfterFunc(ctx, w.nudge)
		defer stop()
	}
	for {
		if over, value, err := w.over(ctx); over {
			return value, err
		}
		if w.parks {
			w.place.Park()
		} else {
			w.world.Sleeper.Sleep(w.rank, w.dozeOff)
		}
	}
}

// doze announces that the rank sleeps and looks a last time whether it should:
// steps 3 and 4 of the package documentation. From the announcement on, the
// window may be in another wait.
func (w *Window) doze() {
	word, until := w.word, w.until
	w.room.doze()
	if (until.Holds(atomic.LoadUint64(word)) || w.nudged.Load()) && w.room.Awaken() {
		w.world.wake(w.rank)
	}
}

// over reports whether a wait ends, and with what: a failure of the window comes
// first, then the condition, then the context. The context is read before the
// word, so that whoever makes the condition true and then ends the context does
// not make it a wait that was in vain.
func (w *Window) over(ctx context.Context) (bool, uint64, error) {
	if w.nudged.Load() {
		w.nudged.Store(false) // before looking for the reason
	}
	if err := w.Err(); err != nil {
		return true, 0, err
	}
	ended := ctx.Err()
	if value := atomic.LoadUint64(w.word); w.until.Holds(value) {
		return true, value, nil
	}
	return ended != nil, 0, ended
}

// spinOn looks at the word for a moment, as long as that has been worth it.
func (w *Window) spinOn(word *uint64, until rma.Until) (uint64, bool) {
	looks := w.spin.begin()
	for i := range looks {
		if i%spinYield == spinYield-1 && w.spin.Yield != nil {
			w.spin.Yield()
		}
		relax(spinRelax)
		if value := atomic.LoadUint64(word); until.Holds(value) {
			w.spin.paid()
			w.looked = w.spin.Yield == nil || i < spinYield-1 // without a yield
			return value, true
		}
	}
	if w.looked = false; looks > 0 {
		w.spin.wasted()
	}
	return 0, false
}
