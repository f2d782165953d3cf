package direct

import (
	"context"
	"sync/atomic"

	"github.com/orwl/go-orwl/internal/invariant"
	"github.com/orwl/go-orwl/net/rma"
)

// Await implements rma.Window.
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
	if ctx.Done() != nil {
		stop := context.AfterFunc(ctx, w.nudge)
		defer stop()
	}
	return w.park(ctx, segment, word, target, disp, until)
}

// spinOn looks at the word for a moment, as long as that has been worth it.
func (w *Window) spinOn(word *uint64, until rma.Until) (uint64, bool) {
	looks := w.spin.begin()
	for range looks {
		relax(spinRelax)
		if value := atomic.LoadUint64(word); until.Holds(value) {
			w.spin.paid()
			return value, true
		}
	}
	if looks > 0 {
		w.spin.wasted()
	}
	return 0, false
}

// park sleeps until the condition holds, the window fails or ctx is done. The
// order of its steps is what keeps a wake-up from being lost: see the package
// documentation.
func (w *Window) park(ctx context.Context, segment *Segment, word *uint64, target rma.Rank, disp rma.Disp, until rma.Until) (uint64, error) {
	room := w.world.Rooms[w.rank]
	alone := room.expect(target, disp, until)
	if invariant.Enabled {
		invariant.Check(alone, "rank %d waits twice at once: its window is used by two goroutines", w.rank)
	}
	if target == w.rank {
		w.stand(segment, disp)
	} else {
		segment.announce(w.rank, disp)
		defer segment.withdraw(w.rank, disp)
	}
	for {
		value := atomic.LoadUint64(word)
		if over, err := w.over(ctx, value, until); over {
			if !room.Awaken() {
				w.world.Sleeper.Sleep(w.rank) // take the wake-up that somebody owes us
			}
			if err != nil {
				value = 0
			}
			return value, err
		}
		w.world.Sleeper.Sleep(w.rank)
		if value := atomic.LoadUint64(word); until.Holds(value) {
			return value, nil // whoever woke us has made the room awake
		}
		room.state.Store(waiting)
	}
}

// stand announces the rank for a word of its own memory and leaves it announced
// until it waits for another one. Most ranks wait for the same word of their own
// again and again, and an announcement costs as much as the wait; meanwhile the
// word's few writers take a look in vain.
func (w *Window) stand(own *Segment, disp rma.Disp) {
	if w.standing == bucket(disp) {
		return
	}
	if w.standing > 0 {
		own.withdraw(w.rank, rma.Disp(w.standing-1))
	}
	own.announce(w.rank, disp)
	w.standing = bucket(disp)
}

// over reports whether a wait ends, and with which error: a failure of the window
// comes first, then the condition, then the context.
func (w *Window) over(ctx context.Context, value uint64, until rma.Until) (bool, error) {
	if err := w.Err(); err != nil {
		return true, err
	}
	if until.Holds(value) {
		return true, nil
	}
	err := ctx.Err()
	return err != nil, err
}
