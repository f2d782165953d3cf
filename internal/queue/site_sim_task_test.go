package queue

import (
	"context"
	"errors"

	"github.com/orwl/go-orwl/net/rma"
)

// simBed is where the task of a node sleeps in one life: a word of its rank. The end of the
// life wakes it, too.
type simBed struct {
	a      *actor
	word   rma.Disp
	parked func()
}

func (b *simBed) Init(parked func()) { b.parked = parked }

func (b *simBed) ParkUntil(ctx context.Context, interrupt func()) {
	a := b.a
	b.parked()
	if err := a.await(ctx, a.w.Rank(), b.word, rma.Is(1)); err != nil {
		interrupt()
		_ = a.await(context.Background(), a.w.Rank(), b.word, rma.Is(1))
	}
	a.fetch(a.w.Rank(), b.word, rma.Replace, 0)
}

func (b *simBed) Unpark() { b.a.c.at.fetch(b.a.w.Rank(), b.word, rma.Replace, 1) }

// task is the program of a node's task. Its place waits in Acquire.
func (a *actor) task(ctx context.Context) error {
	c, n := a.c, a.n
	n.idle = 0
	p := n.own
	p.sleepIn(&simBed{a: a, word: bedWord + rma.Disp(a.life)})
	for n.rounds > 0 && c.phase == faultsHappen {
		n.rounds--
		for range c.chance(30) {
			a.pause()
		}
		if !p.Requested() {
			if a.request(p, Mode(c.chance(2))) != nil {
				continue
			}
			a.ring()
		}
		if c.chance(6) == 0 {
			a.cancel(p)
		} else {
			a.round(ctx, p, c.chance(2) == 0)
		}
		a.ring()
	}
	if p.Requested() { // since it was renewed
		a.round(context.Background(), p, false)
	}
	a.ring()
	n.idle = allIsWell
	_ = a.await(context.Background(), a.w.Rank(), phaseWord, rma.AtLeast(lastWrites))
	for a.request(p, Write) != nil {
		a.pause()
	}
	a.ring()
	a.round(context.Background(), p, false)
	a.ring()
	n.idle = lastWrites
	_ = a.await(context.Background(), a.w.Rank(), phaseWord, rma.AtLeast(runIsOver))
	return nil
}

// round waits for what is requested, and uses it. If the context ends, the task waits
// again, or gives up.
func (a *actor) round(ctx context.Context, p *simPlace, renew bool) {
	err := a.acquire(ctx, p)
	if errors.Is(err, context.Canceled) {
		a.c.seen.interrupted++
		if a.c.chance(2) == 0 {
			a.cancel(p)
			return
		}
		err = a.acquire(context.Background(), p)
	}
	if err != nil {
		return
	}
	for range a.c.chance(12) {
		a.pause()
	}
	a.leaveAccess(p, renew && a.c.phase == faultsHappen)
}
