package printed

import "github.com/orwl/go-orwl/net/rma"

// hem is Hemlock, the lock of Dice and Kogan, SPAA'21 (Uffmann 2022, §5.4.4), as printed. A lock has
// a tail, and a rank has one word, its grant, for all locks of a set.
//
//	tail ──▶ last ─watches─▶ ... ─watches─▶ grant of the holder: 0, or the lock's number
//
// A rank that finds a predecessor watches that one's grant until it names the lock, takes the lock,
// and clears the word.
//
// When is the word free again?
//
//   - HEM-printed: a release waits until the successor has cleared the word. Where there are more
//     ranks than processors that is a wait for the scheduler, outside the queue: releasers sleep
//     while their successors go on, until one is alone and takes the lock again and again for as
//     long as it may run.
//   - HEM-Overlap: a release waits only until the word is free for its own hand-over. But a rank
//     waits before it lines up, as long as its word names the lock: its next successor would
//     take the name for its own. Uffmann reports that the first print ended in deadlocks. Specimen
//     hemlock-overlap leaves this wait out, and two ranks get the lock.
//   - HEM, in package locks, tells two hand-overs apart by a bit, and waits for neither.
type hem struct {
	*side
	tail    hemWord
	grant   hemWord // of the own rank
	at      words
	name    uint64
	overlap bool
}

func newHemlock(overlap bool) func(*side, words) algorithm {
	return func(s *side, at words) algorithm {
		return &hem{
			side: s, at: at, overlap: overlap, name: uint64(s.w.Rank()) + 1,
			tail: newHemWord(s.w, at.direct, at.home, at.tail), grant: newHemWord(s.w, at.direct, s.w.Rank(), at.rank),
		}
	}
}

func (l *hem) enter() (waited bool, err error) {
	if l.overlap && l.grant.Load() == l.at.number {
		if _, err := l.wait(&l.grant, rma.IsNot(l.at.number)); err != nil {
			return false, err
		}
	}
	pred := l.tail.Swap(l.name)
	if pred == 0 {
		return false, nil
	}
	theirs := newHemWord(l.w, l.at.direct, rma.Rank(pred-1), l.at.rank)
	if _, err := l.wait(&theirs, rma.Is(l.at.number)); err != nil {
		return true, err
	}
	theirs.Store(0)
	theirs.wake()
	return true, nil
}

// tryEnter takes the lock if it is free. If the word still names the lock there is a successor, and
// the lock is not free.
func (l *hem) tryEnter() bool { return l.tail.CompareAndSwap(0, l.name) }

func (l *hem) leave() {
	if l.tail.CompareAndSwap(l.name, 0) {
		return
	}
	for l.grant.Load() != 0 { // another lock's hand-over, or with Overlap an earlier one
		if _, err := l.wait(&l.grant, rma.Is(0)); err != nil {
			return
		}
	}
	l.put(l.grant.Target, l.grant.Disp, l.at.number)
	l.handedOver()
	if !l.overlap {
		_, _ = l.wait(&l.grant, rma.Is(0)) // a failed window ends the wait
	}
}

func (l *hem) wait(x *hemWord, until rma.Until) (uint64, error) {
	return l.await(x.Target, x.Disp, until)
}

// hemWord is a word that is reached by atomic instructions where ranks share memory, and by
// operations elsewhere.
type hemWord struct {
	rma.Word
	shared rma.Shared // nil: by operations
}

func newHemWord(w rma.Window, direct bool, p rma.Rank, disp rma.Disp) hemWord {
	if shared, ok := w.(rma.Shared); ok && direct {
		if x, ok := shared.Direct(p, disp); ok {
			return hemWord{x, shared}
		}
	}
	return hemWord{Word: rma.WordBy(operations{w}, p, disp)}
}

// wake wakes the ranks that await the word. An operation has done so already.
func (x *hemWord) wake() {
	if x.shared != nil {
		x.shared.Notify(x.Target, x.Disp)
	}
}

// operations accesses words by a window's operations.
type operations struct{ w rma.Window }

func (o operations) Load(p rma.Rank, d rma.Disp) uint64 { return o.w.Get(p, d) }

func (o operations) Store(p rma.Rank, d rma.Disp, v uint64) {
	o.w.Put(p, d, v)
	o.w.Flush(p)
}

func (o operations) Swap(p rma.Rank, d rma.Disp, v uint64) uint64 {
	return o.w.FetchOp(p, d, rma.Replace, v)
}

func (o operations) Add(p rma.Rank, d rma.Disp, delta uint64) uint64 {
	return o.w.FetchOp(p, d, rma.Sum, delta)
}

func (o operations) CompareAndSwap(p rma.Rank, d rma.Disp, old, new uint64) bool {
	return o.w.CAS(p, d, old, new) == old
}
