package locks

import (
	"context"

	"github.com/orwl/go-orwl/net/topology"
)

// skipping is the ticket lock TKT-A, whose waiters give up: ticket, whose
// releaser skips the tickets of those who went away.
//
//	serving, at home                        slot of a ticket, at rank
//	63               32 31           0      ticket modulo ranks
//	┌──────────────────┬──────────────┐     ┌─────────────────────────────────┐
//	│ ticket served    │ absent       │     │ 0, or mark: ticket, abandoned   │
//	└──────────────────┴──────────────┘     └─────────────────────────────────┘
//
// absent counts at least the tickets to come that are marked. A release adds 1
// to the ticket served and sees in the same instant whether anybody is absent:
// if not, which is the rule, it is over. Otherwise it looks whether the ticket
// that it has just served is marked, takes the mark away, and serves the next.
//
//	           ┌───────── the rank comes back ─────────┐
//	           ▼                                       │
//	(drawn) waiting ──────── the rank gives up ───▶ marked ───a releaser──▶ skipped
//	           └──its ticket is served──▶ holds
//
// A mark is put and taken away by CAS, and whoever takes it away decides: the
// releaser that the ticket is skipped, the rank that it has its old place again.
// A rank draws no other ticket while its mark stands, so that at most as many
// tickets as there are ranks can be marked, and as many slots suffice.
//
// Who gives up is counted first and marked then, and looks at serving at the
// end; who releases serves first and looks for the mark then. So of the two at
// least one sees the other: if the releaser came too early for the mark, the
// rank sees that it is served, and takes back its mark. If the releaser sees the
// mark as well, the CAS decides.
//
// A mark names its ticket. A releaser may be slow: when it comes to the slot, the
// rank that it has served may be gone and the slot another ticket's.
//
// Invariant: that of ticket; and absent is never less than the number of marks,
// so that the half words do not borrow from each other. If serving equals next,
// absent is zero.
//
// Memory order, fairness: as for ticket.
//
// Cost, away from home: as for ticket, but the release is a FetchOp. For each
// ticket that it skips, a release takes two atomics more.
type skipping struct {
	ticket
	mine  uint64 // the last ticket drawn
	away  bool   // the rank has given up and its mark may stand
	slots uint64 // a power of two, so that they do not jump when tickets wrap
	ranks uint64
}

// marked is what a mark has besides its ticket, which may be zero.
const marked = 1

func newTKTA(s *seat) *skipping {
	return apart(skipping{ticket: *newTKT(s), slots: ticketSlots(s.tree), ranks: uint64(s.tree.Ranks())})
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
func (t *skipping) slot(number uint64) word {
	i := number / oneTicket % t.slots
	return t.s.at(Rank(i%t.ranks), int(i/t.ranks))
}

func (t *skipping) enter(ctx context.Context) (grant uint64, err error) {
	if t.away {
		t.away = false
		slot := t.slot(t.mine)
		if slot.cas(t.mine|marked, 0) {
			if t.serving.add(^uint64(0))&ticketMask == t.mine {
				return granted, t.s.decided()
			}
			return t.wait(ctx)
		}
	}
	t.mine = t.next.add(oneTicket)
	if t.serving.load()&ticketMask == t.mine {
		return 0, t.s.decided()
	}
	return t.wait(ctx)
}

// wait waits for the rank's turn, and gives up when ctx is done.
func (t *skipping) wait(ctx context.Context) (grant uint64, err error) {
	_, err = t.serving.await(ctx, shows(t.mine))
	if err == nil {
		return granted, nil
	}
	if t.s.w.Err() != nil || t.giveUp() || t.s.w.Err() != nil {
		return 0, t.s.fail(err)
	}
	return granted, nil
}

// giveUp marks the rank's ticket, and reports whether it did so before the
// ticket was served: if not, the rank has the lock.
func (t *skipping) giveUp() bool {
	if t.serving.add(1)&ticketMask != t.mine {
		slot := t.slot(t.mine)
		slot.store(t.mine | marked)
		t.away = t.serving.load()&ticketMask != t.mine
		if t.away || !slot.cas(t.mine|marked, 0) {
			return true
		}
	}
	t.serving.accumulate(^uint64(0))
	return false
}

// tryEnter does not take up an old place: as long as the rank has one somebody
// holds the lock.
func (t *skipping) tryEnter() bool {
	if t.away {
		slot := t.slot(t.mine)
		if t.away = slot.load() == t.mine|marked; t.away {
			return false
		}
	}
	return t.ticket.tryEnter()
}

func (t *skipping) leave(uint64) {
	before := t.serving.add(oneTicket)
	t.serving.wake()
	served, absent := before&ticketMask+oneTicket, before&^ticketMask
	if t.s.beside != nil && served != t.next.load() {
		t.s.gaveWay()
	}
	for absent > 0 {
		slot := t.slot(served)
		if !slot.cas(served|marked, 0) {
			return
		}
		before = t.serving.add(oneTicket - 1)
		t.serving.wake()
		served, absent = before&ticketMask+oneTicket, before&^ticketMask-1
	}
}
