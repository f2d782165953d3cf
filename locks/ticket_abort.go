package locks

import (
	"context"

	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/topology"
)

// ticketAbort is the ticket lock TKT-A, whose waiters give up: ticket, with a releaser that
// skips the tickets of ranks which went away.
//
//	serving, at home                        slot of a ticket, at rank
//	63               32 31           0      ticket modulo ranks
//	┌──────────────────┬──────────────┐     ┌─────────────────────────────────┐
//	│ ticket served    │ absent       │     │ 0, or mark: ticket, abandoned   │
//	└──────────────────┴──────────────┘     └─────────────────────────────────┘
//
// absent is at least the number of marked tickets to come. A release adds 1 to the ticket
// served and sees in the same instant whether any rank is absent. Mostly none is, and the
// release is over. Otherwise the releaser looks whether the ticket that it has just served
// is marked, takes the mark away, and serves the next.
//
//	           ┌───────── the rank comes back ─────────┐
//	           ▼                                       │
//	(drawn) waiting ──────── the rank gives up ───▶ marked ───a releaser──▶ skipped
//	           └──its ticket is served──▶ holds
//
// A mark is put and taken away by CAS, and the rank that takes it away decides: a releaser,
// that the ticket is skipped; the rank itself, that it has its old place again. A rank
// draws no other ticket while its mark stands. So at most as many tickets are marked as
// there are ranks, and as many slots suffice.
//
// A rank that gives up is counted first, marks second, and looks at serving last. A
// releaser serves first and looks for the mark second. So one of the two sees the other. If
// the releaser came too early for the mark, the rank sees that it is served, and takes back
// its mark. If the releaser sees the mark as well, the CAS decides.
//
// A mark names its ticket. A releaser may be slow: when it comes to the slot, the rank that
// it has served may be gone and the slot another ticket's.
//
// Invariant: tickets'; and absent is never less than the number of marks, so that
// the half words do not borrow from each other. If serving equals next, absent is zero.
//
// Memory order and fairness: as for tickets.
//
// Cost, away from home: as for tickets. For each ticket that it skips, a release takes two
// atomics more.
type ticketAbort struct {
	side
	tickets
	mine  uint64 // the last ticket drawn
	away  bool   // the rank has given up and its mark may stand
	slots uint64 // a power of two, so that they do not jump when tickets wrap
	ranks uint64
}

// marked is what a mark has besides its ticket, which may be zero.
const marked = 1

func newTKTA(lock *Lock, w rma.Window) Mutex {
	l := padded(ticketAbort{})
	l.init(lock, w)
	l.tickets, l.slots, l.ranks = newTickets(&l.side), ticketSlots(l.topo), uint64(l.topo.Ranks())
	return l
}

func ticketSlots(t *topology.Tree) uint64 {
	slots := uint64(1)
	for slots < uint64(t.Ranks()) {
		slots *= 2
	}
	return slots
}

func wordsOfTKTA(t *topology.Tree, _ Options) Words {
	ranks := uint64(t.Ranks())
	return Words{Home: ticketWords, Rank: int((ticketSlots(t) + ranks - 1) / ranks)}
}

// slot is where a ticket is marked.
func (l *ticketAbort) slot(number uint64) word {
	i := number / oneTicket % l.slots
	return l.at(Rank(i%l.ranks), int(i/l.ranks))
}

// Acquire implements Mutex.
func (l *ticketAbort) Acquire(ctx context.Context) error {
	if err := l.arrive(ctx); err != nil {
		return err
	}
	return l.entered(l.enter(ctx))
}

func (l *ticketAbort) enter(ctx context.Context) (grant uint64, err error) {
	if l.away {
		l.away = false
		slot := l.slot(l.mine)
		if slot.CompareAndSwap(l.mine|marked, 0) {
			if l.serving.Add(^uint64(0))&ticketMask == l.mine {
				return granted, l.decided()
			}
			return l.wait(ctx)
		}
	}
	l.mine = l.next.Add(oneTicket)
	if l.serving.Load()&ticketMask == l.mine {
		return none, l.decided()
	}
	return l.wait(ctx)
}

// wait waits for the rank's turn, and gives up when ctx is done.
func (l *ticketAbort) wait(ctx context.Context) (grant uint64, err error) {
	_, err = l.serving.await(ctx, shows(l.mine))
	if err == nil {
		return granted, nil
	}
	if l.broken() || l.giveUp() || l.broken() {
		return none, l.fail(err)
	}
	return granted, nil
}

// giveUp marks the rank's ticket, and reports whether it did so before the ticket was
// served. If not, the rank has the lock.
func (l *ticketAbort) giveUp() bool {
	if l.serving.Add(1)&ticketMask != l.mine {
		slot := l.slot(l.mine)
		slot.Store(l.mine | marked)
		l.away = l.serving.Load()&ticketMask != l.mine
		if l.away || !slot.CompareAndSwap(l.mine|marked, 0) {
			return true
		}
	}
	l.serving.Add(^uint64(0))
	return false
}

// TryAcquire implements Tryer.
func (l *ticketAbort) TryAcquire() bool { return l.try(l) }

// tryEnter does not take up an old place: as long as the rank has one, another rank holds
// the lock.
func (l *ticketAbort) tryEnter() bool {
	if l.away {
		slot := l.slot(l.mine)
		if l.away = slot.Load() == l.mine|marked; l.away {
			return false
		}
	}
	return l.tickets.tryEnter()
}

// Release implements Mutex.
func (l *ticketAbort) Release() {
	if l.end(writing) {
		l.leave(granted)
	}
}

func (l *ticketAbort) leave(uint64) {
	before := l.serving.Add(oneTicket)
	served, absent := before&ticketMask+oneTicket, before&^ticketMask
	if l.serving.mustTell() && l.next.Load() != served {
		l.serving.wake()
		l.handedOver()
	}
	for absent > 0 {
		slot := l.slot(served)
		if !slot.CompareAndSwap(served|marked, 0) {
			return
		}
		before = l.serving.Add(oneTicket - 1)
		l.serving.wake()
		served, absent = before&ticketMask+oneTicket, before&^ticketMask-1
	}
}

// Disown and Adopt implement Oblivious.
func (l *ticketAbort) Disown() { l.disown() }
func (l *ticketAbort) Adopt()  { l.adopt() }
