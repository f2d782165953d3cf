package locks

import (
	"context"

	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/topology"
)

// tickets is the ticket lock TKT (Mellor-Crummey and Scott 1991; Uffmann 2022, §5.4.1,
// figure 5.4): draw a ticket from one counter, wait until the other one shows it, advance
// that one on the way out.
//
//	next, at home                           serving, at home
//	63               32 31           0      63               32 31           0
//	┌──────────────────┬──────────────┐     ┌──────────────────┬──────────────┐
//	│ ticket to draw   │ 0            │     │ ticket served    │ grant        │
//	└──────────────────┴──────────────┘     └──────────────────┴──────────────┘
//
// Inside a cohort the predecessor's grant comes with the ticket, in one word: the inline
// count of §5.4.1, optimisation 3, for which the thesis had no room. The ticket is the
// upper half, so that it wraps without disturbing anything. Tickets are compared for
// equality only, and fewer than 1<<32 ranks wait.
//
// A release is one addition, of 1 to the ticket and of the difference of two grants to the
// grant. A lock on its own always leaves none; so any rank may release it, without knowing
// the ticket.
//
// Invariant: serving is at most next, as far as their tickets go. If they are equal the
// lock is free and the grant is zero; otherwise the rank that drew the ticket served holds
// the lock.
//
// Memory order: side.end completes what the holder did, before the addition to serving,
// which is flushed itself.
//
// Fairness: FIFO. A release wakes the one rank that has the next ticket.
//
// Cost, away from home: one FetchOp and a look to acquire, one FetchOp to release,
// whether or not ranks wait. A rank that finds a predecessor awaits a word at home besides.
type tickets struct {
	side          *side
	next, serving word
	grant         uint64 // the grant that came with the rank's ticket
}

// The words of a ticket lock at its home.
const (
	ticketNext = iota
	ticketServing
	ticketWords
)

const (
	oneTicket  = 1 << 32
	grantMask  = oneTicket - 1
	ticketMask = ^uint64(grantMask)
)

func newTickets(s *side) tickets {
	return tickets{side: s, next: s.atHome(ticketNext), serving: s.atHome(ticketServing)}
}

func newTKTPart(s *side) local { return padded(newTickets(s)) }

func wordsOfTKT(*topology.Tree, Options) Words { return Words{Home: ticketWords} }

// enter implements part.
func (t *tickets) enter(context.Context) (grant uint64, err error) {
	mine := t.next.Add(oneTicket)
	now := t.serving.Load()
	if now&ticketMask == mine {
		t.grant = now & grantMask
		return t.grant, t.side.decided()
	}
	if now, err = t.serving.await(forever(), shows(mine)); err != nil {
		return none, t.side.fail(err)
	}
	t.grant = now & grantMask
	return max(t.grant, granted), nil
}

// shows is the condition on serving that it is a ticket's turn.
func shows(mine uint64) rma.Until { return rma.Is(mine).Masked(ticketMask) }

// tryEnter implements part: it draws a ticket if it is served at once. If a grant is on
// its way to a waiter, serving never equals next.
func (t *tickets) tryEnter() bool {
	now := t.serving.Load()
	t.grant = none
	return t.next.CompareAndSwap(now, now+oneTicket)
}

// leave implements part. A rank that draws its ticket after the look at next has serving
// to look at before it waits.
func (t *tickets) leave(grant uint64) {
	before := t.serving.Add(oneTicket + inline(grant) - t.grant)
	if t.serving.mustTell() && t.next.Load() != before&ticketMask+oneTicket {
		t.serving.wake()
		t.side.handedOver()
	}
}

// alone implements part: no rank has drawn a ticket after the holder's.
func (t *tickets) alone() bool {
	return t.next.Load() == t.serving.Load()&ticketMask+oneTicket
}

// ticket is TKT.
type ticket struct {
	side
	tickets
}

func newTKT(lock *Lock, w rma.Window) Mutex {
	l := padded(ticket{})
	l.init(lock, w)
	l.tickets = newTickets(&l.side)
	return l
}

// Acquire implements Mutex.
func (l *ticket) Acquire(ctx context.Context) error {
	if l.hindered() || ctx.Err() != nil {
		if err := l.arrive(ctx); err != nil {
			return err
		}
	}
	return l.entered(l.enter(ctx))
}

// TryAcquire implements Tryer.
func (l *ticket) TryAcquire() bool { return l.try(&l.tickets) }

// Release implements Mutex.
func (l *ticket) Release() {
	if l.complete(); l.ends(writing) || l.end(writing) {
		l.leave(granted)
	}
}

// Alone implements Cohort.
func (l *ticket) Alone() bool { return l.alone() }

// Disown and Adopt implement Oblivious.
func (l *ticket) Disown() { l.disown() }
func (l *ticket) Adopt()  { l.adopt() }

// twa is TWA, the ticket lock augmented with a waiting array (Dice and Kogan, Euro-Par 2019). Only
// the rank whose turn is next looks at the word that is served. The others, which wait for long,
// look at slots that their tickets choose. A releaser changes the slot of the ticket whose turn is
// the next one now, and its rank moves on to the word that is served.
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
// Words: TKT's at home, and one at each rank for all locks of a set.
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
