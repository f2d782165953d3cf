package orwl

import (
	"context"
	"sync"

	"github.com/orwl/go-orwl/internal/park"
)

// bed is where a task sleeps until an access of it is granted. Its context is
// nearly always the run's, and telling that of each sleep, to be woken when it
// ends, would cost more than the sleep: so the run is told of the bed, once.
type bed struct {
	place park.Place
	run   *run
	known bool // to the run
}

// Init is called for each waiter that is to sleep here, one after the other.
func (b *bed) Init(parked func()) {
	b.place.Init(parked)
	b.known = false
}

// ParkUntil sleeps until Unpark.
func (b *bed) ParkUntil(ctx context.Context, interrupt func()) {
	if b.run == nil || ctx != b.run.ctx {
		b.place.ParkUntil(ctx, interrupt)
		return
	}
	if !b.known {
		b.known = true
		b.run.interrupts.add(interrupt)
		if ctx.Err() != nil { // perhaps too late to be called
			interrupt()
		}
	}
	b.place.Park()
}

// Unpark wakes who sleeps.
func (b *bed) Unpark() { b.place.Unpark() }

// interrupts are the functions that wake whoever sleeps in a run.
type interrupts struct {
	mu    sync.Mutex
	calls []func()
}

func (i *interrupts) add(f func()) {
	i.mu.Lock()
	i.calls = append(i.calls, f)
	i.mu.Unlock()
}

func (i *interrupts) call() {
	i.mu.Lock()
	calls := i.calls
	i.mu.Unlock()
	for _, f := range calls {
		f()
	}
}
