package locks

import (
	"context"

	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/topology"
)

// spin is the locks TAS (test and set) and TTS (test, then test and set) with exponential
// back-off (Uffmann 2022, §2.1.1, figure 2.3): one word that all ranks try to mark.
//
//	flag, at home
//	            any rank swaps             leave
//	0 (free) ─────────────────────▶ held ──────────▶ 0, or a grant
//	grant    ─────────────────────▶
//
// A swap that finds held has changed nothing. A swap that finds anything else has the
// lock, and with it what the predecessor left in the flag's place: inside a cohort that is
// the inline count of §5.4.1, optimisation 3.
//
// TAS swaps every time. TTS looks first whether the flag is held. Where the flag can be
// cached, the look spares the memory's owner the writes; elsewhere it costs a round trip. The thesis therefore takes TTS inside an element and TAS outside.
//
// Invariant: a rank that has swapped held in, and found something else, holds the lock
// until it stores.
//
// Memory order: side.end completes what the holder did, before the store of the flag,
// which is flushed itself.
//
// Fairness: none. A rank that tries at the right moment gets the lock, most often one that
// is near the flag or has just released it. A rank that gives up leaves no trace.
//
// Cost, away from home: TAS one swap to acquire, one Put to release; TTS a Get besides.
// Behind a holder TAS takes one swap more for each try, TTS one Get, and a swap if it was
// too late.
type spin struct {
	side  *side
	flag  word
	looks bool // TTS
}

// held is the flag of a lock that a rank holds. It is a grant's least value, which says
// nothing: see inline.
const held = 1

// inline is how a word carries a grant to the next holder: the least one as zero.
func inline(grant uint64) uint64 {
	if grant <= granted {
		return 0
	}
	return grant
}

func newSpin(s *side, looks bool) spin { return spin{side: s, flag: s.atHome(0), looks: looks} }

func wordsOfTAS(*topology.Tree, Options) Words { return Words{Home: 1} }

// enter implements part.
func (s *spin) enter(ctx context.Context) (grant uint64, err error) {
	if grant, ok := s.take(); ok {
		return grant, s.side.decided()
	}
	return s.wait(ctx)
}

// tryEnter implements part. A flag with a grant for a waiter is not free.
func (s *spin) tryEnter() bool { return s.flag.CompareAndSwap(0, held) }

// leave implements part.
func (s *spin) leave(grant uint64) { s.flag.publish(inline(grant)) }

// take tries once, and returns what was left for the rank if it has the lock.
func (s *spin) take() (grant uint64, ok bool) {
	if s.looks && s.flag.Load() == held {
		return none, false
	}
	grant = s.flag.Swap(held)
	return grant, grant != held
}

// wait tries again until the rank has the lock or ctx is done.
func (s *spin) wait(ctx context.Context) (grant uint64, err error) {
	b := newBackoff(s.side)
	for {
		if err := b.wait(ctx, &s.flag, rma.IsNot(held)); err != nil {
			return none, s.side.fail(err)
		}
		if grant, ok := s.take(); ok {
			return max(grant, granted), s.side.decided()
		}
	}
}

// backoff is the wait of a rank between two tries (Options.Backoff): a pause, twice as
// long each time. Once the pauses have grown to Max, the holder will not let go soon, or
// has no processor. The rank then waits until there is something to try for, and leaves
// its own processor to others.
type backoff struct{ pause, max int }

func newBackoff(s *side) backoff { return backoff{s.o.Backoff.Min, s.o.Backoff.Max} }

// wait returns when another try may succeed: after a pause, or when until holds for the
// word. It fails when ctx is done or the window has failed.
func (b *backoff) wait(ctx context.Context, x *word, until rma.Until) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if b.pause >= b.max {
		_, err := x.await(ctx, until)
		return err
	}
	x.m.w.Pause(b.pause)
	b.pause = min(max(2*b.pause, 1), b.max)
	return x.m.w.Err()
}

// tas is TAS, or TTS.
type tas struct {
	side
	spin
}

func newTAS(looks bool) func(*Lock, rma.Window) Mutex {
	return func(lock *Lock, w rma.Window) Mutex {
		l := padded(tas{})
		l.init(lock, w)
		l.spin = newSpin(&l.side, looks)
		return l
	}
}

// Acquire implements Mutex.
func (l *tas) Acquire(ctx context.Context) error {
	if err := l.arrive(ctx); err != nil {
		return err
	}
	return l.entered(l.enter(ctx))
}

// TryAcquire implements Tryer.
func (l *tas) TryAcquire() bool { return l.try(&l.spin) }

// Release implements Mutex.
func (l *tas) Release() {
	if l.end(writing) {
		l.leave(granted)
	}
}

// Disown and Adopt implement Oblivious.
func (l *tas) Disown() { l.disown() }
func (l *tas) Adopt()  { l.adopt() }

// tts is TTS inside a cohort. It knows whether ranks wait.
//
// Each holder clears the flag "successor-exists" of Dice, Marathe and Shavit, and waiters
// have to set it again. With short sections they come too late, and every second hand-over
// leaves the element (Uffmann, §5.4.3). Here waiters are counted instead. A rank is in the
// count from its first failed try until it holds the lock; the holder never is. So the
// count is zero only if no rank waits, and a waiter takes what the holder leaves in the
// flag. A rank that comes by and is faster than the waiters takes it, too: it is of the
// same element.
//
// This holds as long as waiters stay, as they do inside a cohort. A waiter that gave up
// would take itself out of the count, and alone could become true again.
type tts struct {
	spin
	waiters word
}

func newTTS(s *side) local { return padded(tts{spin: newSpin(s, true), waiters: s.atHome(1)}) }

func wordsOfTTS(*topology.Tree, Options) Words { return Words{Home: 2} }

// enter implements part.
func (t *tts) enter(ctx context.Context) (grant uint64, err error) {
	if grant, ok := t.take(); ok {
		return grant, t.side.decided()
	}
	t.waiters.accumulate(1)
	grant, err = t.wait(ctx)
	t.waiters.accumulate(^uint64(0))
	return grant, err
}

// alone implements part.
func (t *tts) alone() bool { return t.waiters.Load() == 0 }
