package resource

import (
	"context"
	"sync/atomic"

	"github.com/orwl/go-orwl/internal/park"
)

// waiter is a request in a list of the queue. After listing it, its owner touches only
// the state, until another goroutine has taken it out and granted it. A ghost has no
// owner. state:
//
//	            ┌─ sleep ─▶ asleep ───┐
//	            │             │ interrupt
//	listed ─────┤             ▼       ├─ grant, by who completes ─▶ granted
//	   ▲        ├─ interrupt ▶ roused ┤
//	   │        │               │     │
//	   └────────┼─ sleep again ─┘     │
//	            └─ cancel ─▶ ghost ───┘
//
// Each state may have the bit hooked. The change of state that finds the waiter asleep
// wakes it, once.
type waiter struct {
	next   *waiter
	ticket uint64
	state  atomic.Uint32
	mode   Mode
	stray  int8 // 1 if requested before there was a guard

	hook    Hook     // if hooked: told by the goroutine that grants it, just afterwards
	sleeper *sleeper // nil until the owner sleeps for the first time
}

// sleeper is what a waiter has if its owner sleeps. The owner of a request that is only
// told of its grant never does.
type sleeper struct {
	interrupt func()
	bed       Bed        // nil: place
	place     park.Place // nil bed: sleeps here
	alarm     park.Alarm // for place: wakes the sleeper when its context ends; stays on while the place comes back
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
	// Init makes the bed ready. Park calls parked as soon as Unpark may be called, by
	// parked or by another goroutine.
	Init(parked func())
	// ParkUntil returns after one Unpark. If ctx ends before, it calls interrupt.
	ParkUntil(ctx context.Context, interrupt func())
	// Unpark wakes the sleeper. It is called once for each ParkUntil.
	Unpark()
}

// newWaiter is a waiter that sleeps in bed, or in one of its own.
func newWaiter(bed Bed) *waiter {
	w := new(waiter)
	w.lieDown(bed)
	return w
}

// lieDown makes the waiter one that can sleep.
func (w *waiter) lieDown(bed Bed) {
	if w.sleeper != nil {
		return
	}
	s := &sleeper{interrupt: w.rouse, bed: bed}
	if bed == nil {
		s.place.Init(w.parked)
	} else {
		bed.Init(w.parked)
	}
	w.sleeper = s
}

// calm ends what the end of a context may still do to the waiter.
func (w *waiter) calm() {
	if w.sleeper != nil {
		w.sleeper.alarm.Off()
	}
}

// grant gives the waiter back to its owner, wakes the owner if it sleeps, calls the
// hook, and returns the state from before. After the exchange of the state the owner
// may use the waiter again, with another hook: so grant reads the hook first.
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

// watch sets the hook to call at the grant. It reports false if the waiter is granted
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

// giveUp makes the waiter a ghost. It reports false if the waiter is granted already.
func (w *waiter) giveUp() bool { return w.move(ghost, listed, roused) }

// move changes the state from one of two, and reports whether it was one of them.
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
	for s := w.sleeper; w.state.Load() != granted; w.wakeUp() {
		if ctx.Err() != nil {
			return reason(ctx)
		}
		if s.bed != nil {
			s.bed.ParkUntil(ctx, s.interrupt)
		} else {
			s.alarm.Set(ctx, s.interrupt)
			s.place.Park()
		}
	}
	return nil
}

// wakeUp makes a roused waiter ready to sleep again. It follows every sleep, since a
// wake-up may come without a grant.
func (w *waiter) wakeUp() {
	if s := w.state.Load(); s&^hooked == roused {
		w.move(listed, roused, roused)
	}
}

// parked is called when the goroutine sleeps, or is about to. From then on it may be
// woken, unless it was granted or roused before.
func (w *waiter) parked() {
	if !w.move(asleep, listed, listed) {
		w.wake()
	}
}

// rouse wakes the waiter without a grant, or keeps it from sleeping. It may come late,
// when the owner waits for something else: then the owner looks around and sleeps on.
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
	if s := w.sleeper; s.bed == nil {
		s.place.Unpark()
	} else {
		s.bed.Unpark()
	}
}
