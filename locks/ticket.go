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
