package locks

import (
	"context"

	"github.com/orwl/go-orwl/net/rma"
)

// counter is one physical counter of RMA-RW's distributed counter (DC): how many readers
// have come (ARRIVE) and gone (DEPART), and whether a writer keeps them out.
//
//	 63      62       61      60 ... 56   55 ... 52   51 ... 40   39 .... 20   19 ... 0
//	barred │ wanted │ away  │ phase     │ aborts    │ spare     │ departed   │ arrived
//
// A reader adds one to arrived. The number it finds there is its ticket, and the rest of
// what it finds tells whether it is in:
//
//	barred  wanted   ticket
//	no      no       any        in
//	no      yes      < T_R      in
//	no      yes      >= T_R     out until phase or aborts change
//	yes     -        any        out until phase or aborts change
//
// spare is for what another lock wants to keep beside the counts. Here it is zero. No step of a
// counter changes it.
//
// The head, which is the writer that has its turn at the root of the queues, sets wanted,
// waits until the readers that were inside are gone, changes wanted to barred, and waits
// until the readers are gone that have slipped in meanwhile. When writers let go, one
// addition takes back the bit, changes the phase, sets aborts to zero, and subtracts the
// departed from both counts: readers that were out are in, numbered from zero. A head that
// gives up before it holds the lock takes back its bit and adds one to aborts: readers that
// were out are in.
//
// A barger (Options.StepBack) is a writer that did not queue up. It sets barred if neither
// bit is set and no reader is inside, and so does not wait. When it lets go it does as the
// head does, unless the head has come: then it takes back wanted, and what it has barred is
// the head's. So the bits tell the writers:
//
//	barred  wanted
//	no      no       there is none; a barger may bar
//	no      yes      the head waits for readers that are inside, or has the lock, if T_R had
//	                 come before it; no barger may bar
//	yes     no       the head has it, or a barger
//	yes     yes      a barger has it, and the head waits for it
//
// The head knows from what it found when it set wanted whether it waits for readers or for a
// barger: while wanted is set no other rank sets barred. Readers are not let in between the
// barger and the head, so the head need not tell any from those that are kept out. A head
// that gives up while a barger has the counter takes back wanted only: readers that are out
// are not in, but the barger's business.
//
// A reader that stays counted in arrived is in as soon as phase or aborts change, whether it
// has noticed or not: the next writer waits for it. The phase therefore cannot change a
// second time before the reader has departed. Writers that give up do not wait, so their
// number must not come round: at the highest a writer stays (mustStay).
//
// A writer that has to wait for a reader which is in and asleep makes the next ones wait for
// itself. Where ranks outnumber processors that never ends: all sleep between any two steps.
// A reader may therefore step back (Options.StepBack) the first time that it is kept out,
// out of the count, until something changes; the second time it stays. Since it is not
// counted it leaves away: a barger that lets go of a counter which is as the barger has left
// it, without away, wakes no rank. A rank that takes back a bit of a counter with away wakes
// all, and a barger then takes back away, too. A reader that is back waits for a change of
// away besides all else: while it is back its phase may come round, and without away no rank
// would wake it.
//
// # What is corrected
//
// Listings 6 to 9 keep ARRIVE and DEPART in two words; docs/explanation/explored.md shows what the
// explorer made of them. Here
//
//   - a writer waits for the readers that are inside (listing 7 forgets them);
//   - a reset is one operation on one word, so that no rank sees half of it;
//   - a reader resets by a CAS that fails if a writer has come to the counter: it cannot take
//     a bar away;
//   - a reader that is kept out relies on the writer that has set wanted and will take it
//     back in any case, never on one that it saw in a queue. It keeps its place instead of
//     coming again and again, and the race for a reset is gone.
type counter struct {
	word
	tr uint64 // T_R
}

const (
	countBits = 20
	spareBits = 12
	abortBits = 4
	phaseBits = 5

	arriveOne = 1
	departOne = 1 << countBits
	spareOne  = departOne << countBits
	abortOne  = spareOne << spareBits
	phaseOne  = abortOne << abortBits
	away      = phaseOne << phaseBits
	wanted    = away << 1
	barred    = wanted << 1

	countMask    = 1<<countBits - 1
	departedMask = countMask * departOne
	abortsMask   = phaseOne - abortOne
	phaseMask    = away - phaseOne
	epoch        = phaseMask | abortsMask

	// maxTR leaves room for all ranks between T_R and what fits. From arrivedHigh on a
	// reader makes sure that the counter is reset.
	maxTR       = 1 << (countBits - 2)
	arrivedHigh = 1 << (countBits - 1)
)

func arrived(v uint64) uint64  { return v & countMask }
func departed(v uint64) uint64 { return v / departOne & countMask }

// beginAnew is for a reader that found v: if enough have come, and no writer wants the counter,
// it begins to count anew.
func (c *counter) beginAnew(v uint64) {
	if arrived(v) >= c.tr && v&(wanted|barred) == 0 {
		c.reset(v)
	}
}

// kept reports whether a reader that found v is kept out.
func (c *counter) kept(v uint64) bool {
	return v&(wanted|barred) != 0 && (v&barred != 0 || arrived(v) >= c.tr)
}

// reset begins to count anew, from the readers that are inside, unless a writer has come:
// then that is the writer's business. If the reader's ticket is not high yet, and another rank
// interferes, the next reader tries.
func (c *counter) reset(found uint64) {
	pressing := arrived(found) >= arrivedHigh
	for {
		v := c.Load()
		gone := departed(v)
		if v&(wanted|barred) != 0 || gone == 0 {
			return
		}
		if c.CompareAndSwap(v, v-gone*(arriveOne+departOne)) || !pressing || c.m.broken() {
			return
		}
	}
}

// stay waits until a reader that was kept out is in, and returns what the counter is then. If
// ctx is done first the reader steps back, unless it comes too late for that.
func (c *counter) stay(ctx context.Context, found uint64) (now uint64, err error) {
	now, err = c.await(ctx, rma.IsNot(found&epoch).Masked(epoch))
	if err == nil || c.stepBack(found, 0) {
		return now, err
	}
	return c.Load(), c.m.w.Err()
}

// tryArrive counts a reader that would not be kept out, and reports whether it did.
func (c *counter) tryArrive() bool {
	for {
		v := c.Load()
		if c.kept(v) || c.m.broken() {
			return false
		}
		if c.arriveAt(v) {
			return true
		}
	}
}

// arriveAt counts a reader if the counter is still v, and reports whether it did.
func (c *counter) arriveAt(v uint64) bool {
	if !c.CompareAndSwap(v, v+arriveOne) {
		return false
	}
	c.beginAnew(v)
	return true
}

// want announces the head and returns what it found.
func (c *counter) want() uint64 { return c.Add(wanted) | wanted }

// mustStay reports whether a writer that found v must not give up any more.
func mustStay(v uint64) bool { return v&abortsMask == abortsMask }

// bar keeps readers out, once those have gone that were inside when the head came and found
// v, and returns what the counter is when no reader is inside. In case of an error it returns
// what giveUp has to know.
func (c *counter) bar(ctx context.Context, v uint64) (uint64, error) {
	if v&barred != 0 {
		return c.inherit(ctx, v)
	}
	inside := arrived(v)
	if inside < c.tr {
		if departed(v) < inside {
			least := rma.AtLeast(inside * departOne).Masked(departedMask)
			if _, err := c.await(ctx, least); err != nil {
				return v, err
			}
		}
		v = c.Add(barred-wanted) ^ (barred | wanted)
		inside = min(arrived(v), c.tr)
	}
	if departed(v) == inside {
		return v, nil
	}
	gone, err := c.await(ctx, rma.Is(inside*departOne).Masked(departedMask))
	if err != nil {
		return v, err
	}
	return gone, nil
}

// admit takes back the bar of a counter that was v when no reader was inside, and lets in the
// readers that were kept out.
func (c *counter) admit(v uint64) {
	c.Add(admission(v))
	c.wake()
}

// admission is what admit adds.
func admission(v uint64) uint64 {
	next := (v&phaseMask + phaseOne) & phaseMask
	return next - v&(wanted|barred|away|epoch) - departed(v)*(arriveOne+departOne)
}

// giveUp is admit for a head that does not hold the lock, and left the counter as v. A barger
// may have let go of it since.
func (c *counter) giveUp(v uint64) {
	if v&(wanted|barred) != wanted|barred {
		c.Add(abortOne - v&(wanted|barred))
	} else {
		for {
			v = c.Load()
			next := v - wanted // a barger is inside: readers must not come in
			if v&wanted == 0 {
				next = v + abortOne - barred
			}
			if c.CompareAndSwap(v, next) || c.m.broken() {
				break
			}
		}
	}
	c.wake()
}

// vacant reports whether no reader is inside a counter, and no writer has come.
func vacant(v uint64) bool { return (v^v/departOne)&countMask == 0 && v&(wanted|barred) == 0 }

// shut is what a barger makes of a counter that is vacant. The rank that made it vacant has
// woken all readers that were away.
func shut(v uint64) uint64 { return v&^away | barred }

// letGo is admit for a barger whose counter has changed since it barred it. If the head has
// come, it gets the counter instead.
func (c *counter) letGo(v uint64) {
	for {
		next := v + admission(v)
		if v&wanted != 0 {
			next = v &^ (wanted | away)
		}
		if c.CompareAndSwap(v, next) || c.m.broken() {
			break
		}
		v = c.Load()
	}
	c.wake()
}

// inherit is bar for a counter that a barger had barred when the head came.
func (c *counter) inherit(ctx context.Context, v uint64) (uint64, error) {
	now, err := c.await(ctx, rma.Is(0).Masked(wanted))
	if err != nil {
		return v, err
	}
	return now, nil
}

// stepBack takes back a reader that was kept out when it found that, leaving mark, and
// reports whether it did. If not, the reader is in by now, or the window has failed.
func (c *counter) stepBack(found, mark uint64) bool {
	for {
		v := c.Load()
		if (v^found)&epoch != 0 || c.m.broken() {
			return false
		}
		if c.CompareAndSwap(v, (v-arriveOne)|mark) {
			return true
		}
	}
}
