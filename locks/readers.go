package locks

import (
	"context"

	"github.com/orwl/go-orwl/net/rma"
)

// readers is one physical counter of RMA-RW's distributed counter (DC): how many
// readers have come (ARRIVE) and gone (DEPART), and whether a writer keeps them
// out.
//
//	 63      62       61      60 ... 54   53 ... 48   47 .... 24   23 ... 0
//	barred │ wanted │ away  │ phase     │ aborts    │ departed   │ arrived
//
// A reader adds one to arrived. The number it finds there is its ticket, and the
// rest of what it finds tells whether it is in:
//
//	barred  wanted   ticket
//	no      no       any        in
//	no      yes      < T_R      in
//	no      yes      >= T_R     out until phase or aborts change
//	yes     -        any        out until phase or aborts change
//
// The head, which is the writer that has its turn at the root of the queues, sets
// wanted, waits until those who were inside are gone, changes wanted to barred, and
// waits until everybody is gone who has slipped in meanwhile. When writers let go,
// one addition takes back the bit, changes the phase, sets aborts to zero, and
// subtracts the departed from both counts: who was out is in, numbered from zero.
// A head that gives up before it holds the lock takes back its bit and adds one to
// aborts: who was out is in.
//
// A barger (Options.StepBack) is a writer that did not queue up. It sets barred if
// neither bit is set and nobody is inside, and so does not wait. When it lets go it
// does as the head does, unless the head has come: then it takes back wanted, and
// what it has barred is the head's. So the bits tell the writers:
//
//	barred  wanted
//	no      no       there is none; a barger may bar
//	no      yes      the head waits for those who are inside, or has the lock, if
//	                 T_R had come before it; no barger may bar
//	yes     no       the head has it, or a barger
//	yes     yes      a barger has it, and the head waits for it
//
// The head knows from what it found when it set wanted whether it waits for
// readers or for a barger: while wanted is set nobody else sets barred. Nobody
// lets readers in between the barger and the head, so there is none that the head
// would have to tell from those who are kept out. A head that gives up while a
// barger has the counter takes back wanted only: who is out is not in, but the
// barger's business.
//
// Whoever stays counted in arrived is in as soon as phase or aborts change, whether
// it has noticed or not: the next writer waits for it. The phase therefore cannot
// change a second time before the reader has departed. Writers that give up wait
// for nobody, so their number must not come round: at the highest a writer stays
// (patient).
//
// A writer that has to wait for a reader which is in and asleep makes the next
// ones wait for itself, and where there are more ranks than processors that never
// ends: everybody sleeps between any two steps. A reader may therefore step back
// (Options.StepBack) the first time that it is kept out, out of the count, until
// something changes; the second time it stays. Since it is not counted it leaves
// away: a barger that lets go of a counter which is as the barger has left it,
// without away, wakes nobody. Whoever takes back a bit of a counter with away wakes
// all, and a barger then takes back away, too. A reader that is back waits for a
// change of away besides all else: while it is back its phase may come round, and
// without away nobody would wake it.
//
// # What is corrected
//
// Listings 6 to 9 keep ARRIVE and DEPART in two words; docs/explored.md shows
// what the explorer made of them. Here
//
//   - a writer waits for the readers that are inside (listing 7 forgets them);
//   - a reset is one operation on one word, so that nobody sees half of it;
//   - a reader resets by a CAS that fails if a writer has come to the counter:
//     it cannot take a bar away;
//   - a reader that is kept out relies on the writer that has set wanted and
//     will take it back in any case, never on one that it saw in a queue. It
//     keeps its place instead of coming again and again, and the race for a
//     reset is gone.
type readers struct {
	word
	tr uint64 // T_R
}

const (
	countBits = 24
	abortBits = 6
	phaseBits = 7

	arriveOne = 1
	departOne = 1 << countBits
	abortOne  = 1 << (2 * countBits)
	phaseOne  = abortOne << abortBits
	away      = phaseOne << phaseBits
	wanted    = away << 1
	barred    = wanted << 1

	countMask    = 1<<countBits - 1
	departedMask = countMask * departOne
	abortsMask   = phaseOne - abortOne
	phaseMask    = away - phaseOne
	epoch        = phaseMask | abortsMask

	// maxTR leaves room for all ranks between T_R and what fits. From
	// arrivedHigh on a reader makes sure that the counter is reset.
	maxTR       = 1 << (countBits - 2)
	arrivedHigh = 1 << (countBits - 1)
)

func arrived(v uint64) uint64  { return v & countMask }
func departed(v uint64) uint64 { return v / departOne & countMask }

// patient reports whether a writer that found v must not give up any more.
func patient(v uint64) bool { return v&abortsMask == abortsMask }

// kept reports whether a reader that found v is kept out.
func (c *readers) kept(v uint64) bool {
	return v&(wanted|barred) != 0 && (v&barred != 0 || arrived(v) >= c.tr)
}

// settle is for a reader that was counted, and found that: enough may have come to count
// anew.
func (c *readers) settle(found uint64) {
	if arrived(found) >= c.tr && found&(wanted|barred) == 0 {
		c.reset(arrived(found) >= arrivedHigh)
	}
}

// depart counts a reader that goes. If it must be flushed to be seen, so must
// what the reader did.
func (c *readers) depart() {
	c.accumulate(departOne)
	c.wake()
}

// reset begins to count anew, from those who are inside, unless a writer has
// come: then that is the writer's business. If it is not pressing and somebody
// interferes, the next reader tries.
func (c *readers) reset(pressing bool) {
	for {
		v := c.load()
		gone := departed(v)
		if v&(wanted|barred) != 0 || gone == 0 {
			return
		}
		if c.cas(v, v-gone*(arriveOne+departOne)) || !pressing || c.m.broken() {
			return
		}
	}
}

// stepBack takes back a reader that was kept out when it found that, leaving mark, and
// reports whether it did: if not, the reader is in by now, or the window has failed.
func (c *readers) stepBack(found, mark uint64) bool {
	for {
		v := c.load()
		if (v^found)&epoch != 0 || c.m.broken() {
			return false
		}
		if c.cas(v, (v-arriveOne)|mark) {
			return true
		}
	}
}

// change waits until it may be worth coming again, for a reader that has stepped back and
// left away.
func (c *readers) change(ctx context.Context, found uint64) error {
	const all = epoch | wanted | barred | away
	_, err := c.await(ctx, rma.IsNot(found&all|away).Masked(all))
	return err
}

// stay waits until a reader that was kept out is in. If ctx is done first it
// steps back, unless it comes too late for that.
func (c *readers) stay(ctx context.Context, found uint64) error {
	_, err := c.await(ctx, rma.IsNot(found&epoch).Masked(epoch))
	if err == nil || c.stepBack(found, 0) {
		return err
	}
	return c.m.w.Err()
}

// want announces the head and returns what it found.
func (c *readers) want() uint64 { return c.add(wanted) | wanted }

// bar keeps everybody out, once those have gone who were inside when the head
// came and found v, and returns what the counter is when nobody is inside. In case
// of an error it returns what giveUp has to know.
func (c *readers) bar(ctx context.Context, v uint64) (uint64, error) {
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
		v = c.add(barred-wanted) ^ (barred | wanted)
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

// admit takes back the bar of a counter that was v when nobody was inside, and
// lets in whoever was kept out.
func (c *readers) admit(v uint64) {
	c.accumulate(admission(v))
	c.wake()
}

// admission is what admit adds.
func admission(v uint64) uint64 {
	next := (v&phaseMask + phaseOne) & phaseMask
	return next - v&(wanted|barred|away|epoch) - departed(v)*(arriveOne+departOne)
}

// giveUp is admit for a head that does not hold the lock, and left the counter
// as v, but for a barger that may have let go since.
func (c *readers) giveUp(v uint64) {
	if v&(wanted|barred) != wanted|barred {
		c.accumulate(abortOne - v&(wanted|barred))
	} else {
		for {
			v = c.load()
			next := v - wanted // a barger is inside: nobody may come in
			if v&wanted == 0 {
				next = v + abortOne - barred
			}
			if c.cas(v, next) || c.m.broken() {
				break
			}
		}
	}
	c.wake()
}

// tryArrive counts a reader that would not be kept out.
func (c *readers) tryArrive() bool {
	for {
		v := c.load()
		if c.kept(v) || c.m.broken() {
			return false
		}
		if c.cas(v, v+arriveOne) {
			if arrived(v) >= c.tr {
				c.reset(arrived(v) >= arrivedHigh)
			}
			return true
		}
	}
}
