package queue

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/orwl/go-orwl/internal/invariant"
	"github.com/orwl/go-orwl/locks"
)

// guard is the lock between ordered and relaxed access to a resource, as the FIFO holds
// it. A resource is a cohort lock: its FIFO is the local lock, and a request that the
// FIFO has granted enters the guard, too. The first member takes the lock for all. The
// last member keeps it for the next one, or gives it up.
//
//	ordered access    FIFO ── enter ─▶ ┌───────┐
//	                                   │ guard │ ─▶ bytes
//	relaxed access    ───────────────▶ └───────┘
//
// # The word
//
//	 63     62        61      60 59   58 .. 48   47 .... 24   23 ... 0
//	busy │ passing │ stray │ mode   │ run      │ waiting    │ members
//
// Members are places that have entered and not left. Waiting is the number of relaxed
// accesses that wait. Run counts the members that entered an empty guard since the lock
// was taken: grants in a row, up to T_L. Mode is how the FIFO owns the lock:
//
//	                       give up          take
//	first relaxed access ─▶ opening ─▶ unowned ─────▶ reading, writing
//	                                   ▲               │
//	                                   └─── give up ───┘
//
// Opening admits members as writing does, but the lock was not taken, and no relaxed
// access may touch it yet. Busy means that a goroutine is taking the lock or giving it
// up. Meanwhile all others leave the lock alone, and every field of the word but
// waiting.
//
// # When the FIFO gives it up
//
// While no relaxed access waits, the FIFO keeps the lock, even without members. Then
// the next relaxed access makes the FIFO give it up. Waiting is in the same word as
// all other fields, so looking and deciding are one step.
//
// If a relaxed access waits, the last member marks the lock as passing, completes its
// request, and then decides. It keeps the lock if that has woken a successor and there
// were fewer than T_L grants in a row. Otherwise it gives the lock up. A woken
// successor clears the mark when it enters. Until then the mark stops relaxed accesses
// from giving the lock up.
//
// A member never waits for another member of its group: co-readers may rely on one
// another's grants, because the FIFO promises that. So a group that readers keep
// joining has no end while one of them is inside, even if a relaxed access waits.
//
// # The beginning
//
// Before the first relaxed access, places acquire without looking here. Those that did
// so are strays. A request made before then may become a stray, so it counts as one.
// arm first marks completed: from then on every acquire looks here. It then marks
// requested, so that tickets tell which requests came later. The difference of the two
// words at these moments is the number of strays. Each is accounted for once: when it
// enters, otherwise when it completes. Meanwhile the FIFO owns the guard without having
// taken it (opening), so that no place ever waits for a stray. All requests before a
// writer have completed when the writer enters. So a writer that enters proves that no
// stray is left inside. A stray writer that completes proves it, too.
//
// All this puts no request into the FIFO. A writer of the guard's own would split a
// group of readers, and readers that rely on being granted together would wait for one
// another for ever.
type guard struct {
	r     *Resource
	locks Guard
	tl    uint64
	word  atomic.Uint64
	list  atomic.Pointer[waiter] // waiters for the end of busy or opening
	armed atomic.Bool
	debt  atomic.Int64 // strays that are not accounted for yet
}

const (
	oneMember  = 1 << 0
	oneRelaxed = 1 << 24
	oneRun     = 1 << 48
	stray      = 1 << 61
	passing    = 1 << 62
	busy       = 1 << 63

	memberMask  = oneRelaxed - 1
	relaxedMask = oneRun - oneRelaxed
	modeMask    = 3 << 59

	mostRun = 1<<11 - 1
	// unarmed is the debt before it is known, less the strays that were accounted for
	// already.
	unarmed = 1 << 62
)

// The modes of a guard.
const (
	unowned = iota << 59
	reading
	writing
	opening
)

func members(v uint64) uint64 { return v & memberMask }

func run(v uint64) uint64 { return v / oneRun & mostRun }

func newGuard(r *Resource, g Guard, tl int) *guard {
	n := &guard{r: r, locks: g, tl: uint64(tl)}
	n.word.Store(opening | stray)
	n.debt.Store(unarmed)
	return n
}

// arm makes every request enter the guard from now on.
func (g *guard) arm() {
	if g.armed.Load() || !g.armed.CompareAndSwap(false, true) {
		return
	}
	r := g.r
	r.point()
	completed := r.completed.Or(guarded)
	r.saw(completed)
	r.point()
	requested := r.requested.Or(guarded)
	r.saw(requested)
	before := requested&^flags - completed&^flags
	g.account(unarmed - int64(before>>4&(1<<29-1)+before>>33))
}

// account subtracts strays that cannot be inside any more.
func (g *guard) account(strays int64) {
	g.r.point()
	left := g.debt.Add(-strays)
	g.r.saw(uint64(left))
	if left == 0 {
		g.drained()
	}
}

// drained notes that no stray is inside.
func (g *guard) drained() {
	for {
		v := g.load()
		if v&stray == 0 {
			return
		}
		if g.cas(v, v&^stray) {
			g.revoke()
			return
		}
	}
}

// fits reports whether a request of mode m may enter under the lock as the FIFO owns
// it.
func (g *guard) fits(v uint64, m Mode) bool {
	switch v & modeMask {
	case unowned:
		return false
	case reading:
		return m == Read && !g.enough(v)
	case writing:
		return !g.enough(v)
	}
	return true
}

// enough reports whether the FIFO has used up its T_L grants while a relaxed access
// waits. A woken successor that comes in before the lock is given up then gives it up
// itself.
func (g *guard) enough(v uint64) bool {
	return v&memberMask == 0 && run(v) >= g.tl && v&relaxedMask != 0
}

// admit makes a request that the FIFO has granted a member, if the word is still v. v
// is not busy.
func (g *guard) admit(ctx context.Context, v uint64, m Mode) (in bool, err error) {
	if g.fits(v, m) {
		return g.join(v), nil
	}
	if !g.seize(v) {
		return false, nil
	}
	if m == Write {
		err = g.locks.Ordered.Acquire(ctx)
	} else {
		err = g.locks.Ordered.AcquireRead(ctx)
	}
	g.taken(m, err == nil)
	if errors.Is(err, locks.ErrBroken) {
		g.r.Break(err)
		err = g.r.brokenError()
	}
	return err == nil, err
}

// tryAdmit is admit without waiting. It also reports whether the word was still v.
func (g *guard) tryAdmit(v uint64, m Mode) (in, tried bool) {
	if g.fits(v, m) {
		in = g.join(v)
		return in, in
	}
	if !g.seize(v) {
		return false, false
	}
	if m == Write {
		try, ok := g.locks.Ordered.(locks.Tryer)
		in = ok && try.TryAcquire()
	} else {
		try, ok := g.locks.Ordered.(locks.ReadTryer)
		in = ok && try.TryAcquireRead()
	}
	g.taken(m, in)
	return in, true
}

// join adds a member under the lock that the FIFO owns.
func (g *guard) join(v uint64) bool {
	if members(v) == memberMask {
		panic("resource: " + g.r.name + " has 1<<24 members in its guard at once: use fewer places")
	}
	n := v&^passing + oneMember
	if members(v) == 0 && run(v) < g.tl {
		n += oneRun
	}
	return g.cas(v, n)
}

// taken ends busy: with a first member if got, otherwise without the lock.
func (g *guard) taken(m Mode, got bool) {
	n := uint64(0)
	if got {
		n = oneMember + oneRun + reading
		if m == Write {
			n = oneMember + oneRun + writing
		}
	}
	for {
		v := g.load()
		if g.cas(v, v&relaxedMask|n) {
			break
		}
	}
	g.wake()
}

// seize makes the word busy if it is still v, and releases the lock if the FIFO owned
// it.
func (g *guard) seize(v uint64) bool {
	invariant.Check(v&(memberMask|stray|busy) == 0, "the guard of %q is let go while it is %#x", g.r.name, v)
	if !g.cas(v, (v|busy)&^passing) {
		return false
	}
	g.leaveOrdered(v & modeMask)
	return true
}

// leaveOrdered releases the lock that the FIFO owns in a mode.
func (g *guard) leaveOrdered(mode uint64) {
	switch mode {
	case reading:
		g.locks.Ordered.ReleaseRead()
	case writing:
		g.locks.Ordered.Release()
	}
}

// line lists a waiter while the word has the state that it waits on. It looks at the
// word again after listing. A goroutine that ends that state looks at the list
// afterwards. So neither misses the other.
func (g *guard) line(w *waiter, mask, while uint64) {
	w.word.Store(listed)
	w.next = nil
	g.r.put(&g.list, w)
	if g.load()&mask != while || g.r.load(&g.r.completed)&broken != 0 {
		g.wake()
	}
}

// wake makes every listed waiter look again.
func (g *guard) wake() {
	g.r.point()
	if g.list.Load() == nil {
		return
	}
	g.r.point()
	for w := g.list.Swap(nil); w != nil; {
		next := w.next
		for !w.grant(w.word.Load()) {
		}
		w = next
	}
}

func (g *guard) load() uint64 { return g.r.load(&g.word) }

func (g *guard) cas(old, new uint64) bool {
	g.r.point()
	done := g.word.CompareAndSwap(old, new)
	if done {
		g.r.saw(new)
	} else {
		g.r.saw(old + 1)
	}
	return done
}

func (g *guard) and(mask uint64) {
	g.r.point()
	g.r.saw(g.word.And(mask))
}
