package locks

import (
	"context"

	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/topology"
)

// ticket is the ticket lock TKT (Mellor-Crummey and Scott 1991; Uffmann 2022,
// §5.4.1, figure 5.4): draw a ticket from one counter, wait until the other one
// shows it, advance that one on the way out.
//
//	next, at home                           serving, at home
//	63               32 31           0      63               32 31           0
//	┌──────────────────┬──────────────┐     ┌──────────────────┬──────────────┐
//	│ ticket to draw   │ 0            │     │ ticket served    │ grant        │
//	└──────────────────┴──────────────┘     └──────────────────┴──────────────┘
//
// Inside a cohort the grant that the predecessor left comes with the ticket, in
// one word: the inline count of §5.4.1, optimisation 3, for which the thesis had
// no room. The ticket is the upper half, so that it wraps without disturbing
// anything; tickets are compared for equality only, and fewer than 1<<32 ranks
// wait.
//
// A release is one addition, of 1 to the ticket and of the difference of two
// grants to the grant; where ranks share memory a look and a store do the same. A
// lock on its own always leaves none; so any rank may release it, without knowing
// the ticket.
//
// Invariant: serving is at most next, as far as their tickets go; if they are
// equal the lock is free and the grant is zero, else the rank that drew the
// ticket served holds the lock.
//
// Memory order: the flush of a release completes what the holder did, before the
// addition to serving, which is flushed itself.
//
// Fairness: FIFO. A release wakes the one rank that has the next ticket.
//
// Cost, away from home: one FetchOp and a look to acquire, one Accumulate to
// release, whether or not anybody waits; a rank that finds a predecessor awaits
// a word at home besides.
type ticket struct {
	s             *seat
	next, serving word
	grant         uint64 // as it came with the ticket, or as the rank has left it
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

func newTKT(s *seat) *ticket {
	return apart(ticket{s: s, next: s.atHome(ticketNext), serving: s.atHome(ticketServing)})
}

// newLoneTKT is a ticket lock whose ranks go alone: who is alone draws no ticket.
func newLoneTKT(s *seat) *ticket {
	t := newTKT(s)
	s.goesAlone(lone{by: byCAS, tail: t.next, present: oneTicket, sure: t.serving})
	return t
}

func wordsOfTKT(*topology.Tree, Options) Words { return Words{Home: ticketWords} }

func (t *ticket) enter(context.Context) (grant uint64, err error) {
	mine, lined := t.s.lone.arrived()
	if !lined {
		mine = t.next.add(oneTicket)
	}
	now := t.serving.load()
	if now&ticketMask == mine {
		t.grant = now & grantMask
		return t.grant, t.s.decided()
	}
	now, err = t.serving.await(context.Background(), shows(mine))
	if err != nil {
		return 0, t.s.fail(err)
	}
	t.grant = now & grantMask
	return max(t.grant, granted), nil
}

// shows is the condition on serving that it is a ticket's turn.
func shows(mine uint64) rma.Until { return rma.Is(mine).Masked(ticketMask) }

// tryEnter draws a ticket if it is served at once. If a grant is on its way to a
// waiter, serving never equals next.
func (t *ticket) tryEnter() bool {
	now := t.serving.load()
	t.grant = 0
	return t.next.cas(now, now+oneTicket)
}

func (t *ticket) leave(grant uint64) {
	delta := oneTicket + inline(grant) - t.grant
	if l := &t.s.lone; t.s.direct || l.allowed {
		served := t.serving.load() + delta // nobody else changes it
		t.grant = served & grantMask
		l.shows, l.absent, l.present = served, served&ticketMask, served&ticketMask+oneTicket
		if t.drawn(served) {
			t.serving.publish(served)
			t.s.gaveWay()
			return
		}
		t.serving.store(served)
		// Who draws from now on looks before it waits, and a look at next is cheaper
		// than one for waiters.
		if t.drawn(served) {
			t.serving.wake()
		}
		return
	}
	t.serving.accumulate(delta)
	t.serving.wake()
}

// drawn reports whether anybody has drawn the ticket that is served.
func (t *ticket) drawn(served uint64) bool {
	return t.next.load() != served&ticketMask
}

// alone reports whether nobody has drawn a ticket after the holder's.
func (t *ticket) alone() bool {
	return t.next.load() == t.serving.load()&ticketMask+oneTicket
}
