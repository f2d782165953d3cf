package locks

import (
	"context"

	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/topology"
)

// twa is TWA, the ticket lock augmented with a waiting array, of Dice and Kogan, Euro-Par 2019, listing
// 1: the ticket lock of ticket.go, where only the rank whose turn is next looks at the word that
// is served. The others, which wait for long, look at a slot that their tickets choose. A
// releaser changes the slot of the ticket that becomes the next but one, and its rank moves on to
// the word that is served.
//
//	                 served ◀── holder, ticket 4
//	                   ▲ ◀───── ticket 5: its turn is next (twaNear)
//	slot of 6 ◀───────────────── ticket 6
//	slot of 7 ◀───────────────── ticket 7          slot: a count of changes, at some rank
//
// The paper has one array of 4,096 slots for all locks of a process. Here each rank has a slot
// for all locks of a set. Tickets of one lock that wait at a time have different slots. Those of
// different locks may share one: then a rank is woken too early, looks, and waits again.
//
// The printed release changes the slot in any case. Here it looks first whether that ticket has
// been drawn. A rank that draws it later finds itself near the served one, because it looks at
// that after it has drawn.
//
// Words: those of ticket.go at home, and one at each rank for all locks of a set.
//
// Invariant: tickets'. A rank at a slot is at least two turns away, or the slot has changed
// since the rank looked at it.
//
// Memory order: as for tickets. The addition to serving comes before the change of the slot, and a
// waiter looks at the slot, then at serving.
//
// Fairness: FIFO.
//
// Cost, away from home: TKT's, and a Get to release. A rank that waits for long takes four Gets and
// an await more, and its releaser a Put.
type twa struct {
	side
	tickets
	slots uint64
}

// twaNear is how many turns before its own a rank waits at the word that is served
// (LongTermThreshold).
const twaNear = oneTicket

func newTWA(lock *Lock, w rma.Window) Mutex {
	l := padded(twa{})
	l.init(lock, w)
	l.tickets, l.slots = newTickets(&l.side), uint64(l.topo.Ranks())
	return l
}

func wordsOfTWA(*topology.Tree, Options) Words {
	return Words{Home: ticketWords, Rank: 1, Shared: true}
}

// slot is where the rank with a ticket waits for long.
func (l *twa) slot(ticket uint64) word { return l.at(Rank((ticket/oneTicket+l.number)%l.slots), 0) }

// Acquire implements Mutex.
func (l *twa) Acquire(ctx context.Context) error {
	if l.hindered() || ctx.Err() != nil {
		if err := l.arrive(ctx); err != nil {
			return err
		}
	}
	mine := l.next.Add(oneTicket)
	served := l.serving.Load()
	if served != mine {
		if err := l.wait(mine, served); err != nil {
			return l.fail(err)
		}
	}
	if err := l.decided(); err != nil {
		return err
	}
	l.acquired(writing, served != mine)
	return nil
}

// wait waits for a ticket's turn: first at its slot, then at the word that is served.
func (l *twa) wait(mine, served uint64) error {
	slot := l.slot(mine)
	for mine-served > twaNear {
		changes := slot.Load()
		if served = l.serving.Load(); mine-served > twaNear {
			if _, err := slot.await(forever(), rma.IsNot(changes)); err != nil {
				return err
			}
		}
	}
	_, err := l.serving.await(forever(), rma.Is(mine))
	return err
}

// TryAcquire implements Tryer.
func (l *twa) TryAcquire() bool { return l.try(&l.tickets) }

// Release implements Mutex.
func (l *twa) Release() {
	if l.complete(); !l.ends(writing) && !l.end(writing) {
		return
	}
	served := l.serving.Add(oneTicket) + oneTicket
	drawn := l.next.Load() - served
	if drawn == 0 {
		return
	}
	l.serving.wake()
	if drawn > twaNear {
		slot := l.slot(served + twaNear)
		slot.accumulate(1)
	}
	l.handedOver()
}

// Alone implements Cohort.
func (l *twa) Alone() bool { return l.alone() }

// Disown and Adopt implement Oblivious.
func (l *twa) Disown() { l.disown() }
func (l *twa) Adopt()  { l.adopt() }
