package resource

import (
	"context"
	"sync/atomic"
	"unsafe"

	"github.com/orwl/go-orwl/internal/invariant"
	"github.com/orwl/go-orwl/internal/park"
)

// waiter is a request in a list of the queue. Its owner lists it and then leaves
// it alone, but for the state, until somebody has taken it out and granted it; a
// ghost belongs to nobody. state:
//
//	            ┌─ sleep ─▶ asleep ───┐
//	            │             │ interrupt
//	listed ─────┤             ▼       ├─ grant, by who completes ─▶ granted
//	   ▲        ├─ interrupt ▶ roused ┤
//	   │        │               │     │
//	   └────────┼─ sleep again ─┘     │
//	            └─ cancel ─▶ ghost ───┘
//
// Each of these may have the bit hooked. Who finds it asleep when changing state
// wakes it, once.
type waiter struct {
	next   *waiter
	ticket uint64
	state  atomic.Uint32
	mode   Mode
	stray  int8 // 1 if requested before there was a guard

	hook      Hook // if hooked: told by the goroutine that grants it, just afterwards
	interrupt func()
	bed       Bed        // nil: place
	place     park.Place // a bed of its own
	alarm     park.Alarm // that wakes who sleeps there; on as long as the place comes back
}

// The states of a waiter.
const (
	granted = iota // the owner's
	listed
	asleep
	roused // awake without a grant, its context has ended
	ghost  // given up
	hooked = 8
)

// Bed is where a goroutine sleeps while it waits for a grant. A Place has one
// that parks the goroutine; the simulator's ranks bring beds of their own.
type Bed interface {
	// Init makes the bed ready. Park will call parked as soon as Unpark may be
	// called, by parked or by anybody.
	Init(parked func())
	// ParkUntil returns after one Unpark. If ctx ends before, it calls interrupt.
	ParkUntil(ctx context.Context, interrupt func())
	// Unpark wakes who sleeps. It is called once for each ParkUntil.
	Unpark()
}

// newWaiter is a waiter that sleeps in bed, or in one of its own.
func newWaiter(bed Bed) *waiter {
	w := &waiter{bed: bed}
	w.interrupt = w.rouse
	if bed == nil {
		w.place.Init(w.parked)
	} else {
		bed.Init(w.parked)
	}
	return w
}

// begin makes it one that is not yet in a list. Nobody else changes its state, and
// listing it comes later, so an ordinary store does, but where the race detector
// looks: an interrupt may come late.
func (w *waiter) begin(state uint32) {
	if invariant.Enabled {
		w.state.Store(state)
	} else {
		*(*uint32)(unsafe.Pointer(&w.state)) = state
	}
}

// grant gives it back to its owner, wakes the owner if it sleeps, tells the hook, and
// returns its state from before. From the exchange of the state on the owner may use it
// again, with another hook: so the hook is read before.
func (w *waiter) grant(by any) (was uint32) {
	for {
		s := w.state.Load()
		hook := Hook(nil)
		if s&hooked != 0 && s != ghost|hooked {
			hook = w.hook
		}
		if !w.state.CompareAndSwap(s, granted) {
			continue
		}
		if s &^= hooked; s == asleep {
			w.wake()
		}
		if hook != nil {
			hook.Granted(by)
		}
		return s
	}
}

// watch has the hook told when it is granted, and reports false if it is granted
// already. It is called once.
func (w *waiter) watch(hook Hook) bool {
	w.hook = hook
	for {
		s := w.state.Load()
		if s == granted {
			return false
		}
		if w.state.CompareAndSwap(s, s|hooked) {
			return true
		}
	}
}

// giveUp makes it a ghost, and reports false if it is granted already.
func (w *waiter) giveUp() bool { return w.move(ghost, listed, roused) }

// move changes its state from one of two, and reports whether it was in one.
func (w *waiter) move(to, from, or uint32) bool {
	for {
		s := w.state.Load()
		if s&^hooked != from && s&^hooked != or {
			return false
		}
		if w.state.CompareAndSwap(s, to|s&hooked) {
			return true
		}
	}
}

// sleep returns when it is granted, or with the reason for the end of ctx.
func (w *waiter) sleep(ctx context.Context) error {
	for ; w.state.Load() != granted; w.wakeUp() {
		if ctx.Err() != nil {
			return reason(ctx)
		}
		if w.bed != nil {
			w.bed.ParkUntil(ctx, w.interrupt)
		} else {
			w.alarm.Set(ctx, w.interrupt)
			w.place.Park()
		}
	}
	return nil
}

// wakeUp is what whoever has slept does first: it may have been for nothing.
func (w *waiter) wakeUp() {
	if s := w.state.Load(); s&^hooked == roused {
		w.move(listed, roused, roused)
	}
}

// parked is called when the goroutine sleeps, or is about to: from here on it may
// be woken, unless it was granted or roused before.
func (w *waiter) parked() {
	if !w.move(asleep, listed, listed) {
		w.wake()
	}
}

// rouse wakes it without a grant, or keeps it from sleeping. It may come late, and
// find the owner waiting for something else: then that looks around and sleeps on.
func (w *waiter) rouse() {
	for {
		switch s := w.state.Load(); s &^ hooked {
		case listed:
			if w.state.CompareAndSwap(s, roused|s&hooked) {
				return
			}
		case asleep:
			if w.state.CompareAndSwap(s, roused|s&hooked) {
				w.wake()
				return
			}
		default:
			return
		}
	}
}

func (w *waiter) wake() {
	if w.bed == nil {
		w.place.Unpark()
	} else {
		w.bed.Unpark()
	}
}
