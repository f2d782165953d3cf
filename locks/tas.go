package locks

import (
	"context"

	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/topology"
)

// tas is the locks TAS (test and set) and TTS (test, then test and set) with
// exponential back-off (Uffmann 2022, §2.1.1, figure 2.3): one word that all
// ranks try to mark.
//
//	flag, at home
//	            any rank swaps                leave
//	0 (free) ─────────────────────▶ held ────────────────▶ 0, or a grant
//	grant    ─────────────────────▶  ▲
//	                                 │ any rank swaps, in vain
//	0 ◀────────────────────────▶ taken (alone)
//
// A swap that finds held has changed nothing. One that finds anything else has
// the lock, and with it what the predecessor left in the flag's place: inside a
// cohort that is the inline count of §5.4.1, optimisation 3.
//
// A rank that goes alone (lone) takes the lock, and need wake nobody: who tries
// meanwhile makes it held, and only who has seen held may sleep.
//
// TAS swaps every time. TTS looks first whether it is held, which spares the memory's owner the
// writes where the flag can be cached, and costs a round trip more where it
// cannot; the thesis therefore takes TTS inside an element and TAS outside.
//
// Invariant: who has swapped held in, and found something else, holds the lock
// until it stores.
//
// Memory order: the flush of a release completes what the holder did, before the
// store of the flag, which is flushed itself.
//
// Fairness: none. Who tries at the right moment gets the lock, most of all a
// rank that is near the flag or has just released it.
//
// A rank that gives up goes away: it has left no trace.
//
// Cost, away from home: TAS one swap to acquire, one Put to release; TTS a Get
// besides. Behind a holder TAS takes one swap more for each vain try, TTS one
// Get, and a swap if it was too late.
type tas struct {
	s     *seat
	flag  word
	looks bool // TTS
}

// What a flag may be besides 0 and a grant that is more than granted.
const (
	held  = 1
	taken = 1 << 63
)

// inline is how a word carries a grant to the next holder: the least one, which
// says nothing, as zero.
func inline(grant uint64) uint64 {
	if grant <= granted {
		return 0
	}
	return grant
}

func newTAS(s *seat) *tas {
	t := apart(tas{s: s, flag: s.atHome(0)})
	s.goesAlone(lone{by: byCAS, tail: t.flag, present: taken})
	return t
}

// newPlainTTS is TTS on its own, which need not know about its waiters.
func newPlainTTS(s *seat) *tas {
	t := newTAS(s)
	t.looks = true
	return t
}

func wordsOfTAS(*topology.Tree, Options) Words { return Words{Home: 1} }

func (t *tas) enter(ctx context.Context) (grant uint64, err error) {
	if grant, ok := t.take(); ok {
		return grant, t.s.decided()
	}
	return t.wait(ctx)
}

// tryEnter takes the lock if it is free. What is left in the flag for a waiter
// is not free.
func (t *tas) tryEnter() bool { return t.flag.cas(0, held) }

func (t *tas) leave(grant uint64) { t.flag.publish(inline(grant)) }

// take tries once, and returns what was left for the rank if it has the lock.
func (t *tas) take() (grant uint64, ok bool) {
	if t.looks && t.flag.load() == held {
		return 0, false
	}
	grant = t.flag.swap(held)
	return grant, grant != held && grant != taken
}

// wait tries again until the rank has the lock or ctx is done.
func (t *tas) wait(ctx context.Context) (grant uint64, err error) {
	b := newBackoff(t.s)
	for {
		if err := b.wait(ctx, &t.flag, rma.IsNot(held)); err != nil {
			return 0, t.s.fail(err)
		}
		if grant, ok := t.take(); ok {
			return max(grant, granted), t.s.decided()
		}
	}
}

// tts is TTS inside a cohort: it knows whether anybody waits.
//
// The flag "successor-exists" of Dice, Marathe and Shavit is cleared by each
// holder and has to be set again by those who still wait; with short sections
// they come too late, and every second hand-over leaves the element (Uffmann,
// §5.4.3). Here waiters are counted instead. A rank is in the count from its
// first vain try until it holds the lock; the holder never is. So the count is
// zero only if nobody waits, and whatever the holder leaves in the flag will be
// taken. Who comes by and is faster than those who wait takes it, too: it is of
// the same element.
//
// This holds as long as waiters stay. One that gives up takes itself out of the
// count, so that alone may become true again after it was false; whoever left a
// grant in between would have left it to nobody.
type tts struct {
	tas
	waiters word
}

func newTTS(s *seat) *tts { return apart(tts{tas: *newPlainTTS(s), waiters: s.atHome(1)}) }

func wordsOfTTS(*topology.Tree, Options) Words { return Words{Home: 2} }

func (t *tts) enter(ctx context.Context) (grant uint64, err error) {
	if grant, ok := t.take(); ok {
		return grant, t.s.decided()
	}
	t.waiters.accumulate(1)
	grant, err = t.wait(ctx)
	t.waiters.accumulate(^uint64(0))
	return grant, err
}

// alone reports whether nobody waits.
func (t *tts) alone() bool { return t.waiters.load() == 0 }
