package direct

import (
	"context"

	"github.com/orwl/go-orwl/net/rma"
)

// Survivor is a window that goes on after a loss. Make its Window survive first.
type Survivor struct{ *Window }

var _ rma.Survivor = Survivor{}

// Survive makes the window go on after a loss. Call it before anything else.
func (w *Window) Survive() { w.epoch.Store(new(rma.Epoch)) }

// Lose tells a window that survives of a loss, and wakes its rank. One goroutine at a time
// calls it. It may run beside Fail.
func (w *Window) Lose(loss *rma.PeerLostError) {
	e := w.epoch.Load()
	w.epoch.Store(e.With(loss.Rank))
	e.End(loss)
	w.endEpochIfFailed()
	w.nudge()
}

// endEpochIfFailed ends the epoch of a window that has failed. Fail calls it after it has made the
// window fail, and Lose after it has begun an epoch: the later one ends that epoch.
func (w *Window) endEpochIfFailed() {
	if e := w.epoch.Load(); e != nil && w.failed.Load() {
		e.End(w.err)
	}
}

// Epoch implements rma.Survivor.
func (s Survivor) Epoch() *rma.Epoch { return s.epoch.Load() }

// AwaitIn implements rma.Survivor.
func (s Survivor) AwaitIn(ctx context.Context, e *rma.Epoch, target rma.Rank, disp rma.Disp, until rma.Until) (uint64, error) {
	if err := e.Err(); err != nil {
		return 0, err
	}
	s.endsOf = e
	value, err := s.Await(ctx, target, disp, until)
	s.endsOf = nil
	return value, err
}
