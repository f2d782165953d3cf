package resource

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/orwl/go-orwl/internal/invariant"
	"github.com/orwl/go-orwl/locks"
)

// guard is the lock between the two doors of a resource, as the FIFO holds it. A
// resource is a cohort lock: its FIFO is the local lock, and whoever the FIFO has
// granted enters the guard, too. The first to enter takes the lock for all, the
// last to leave keeps it for those who come next, or gives it up.
//
//	ordered door    FIFO ── enter ─▶ ┌───────┐
//	                                 │ guard │ ─▶ bytes
//	relaxed door    knock ─────────▶ └───────┘
//
// # The word
//
//	 63     62        61      60 59   58 .. 48   47 .... 24   23 ... 0
//	busy │ passing │ stray │ mode   │ run      │ knocking   │ members
//
// Members are places that have entered and not left. Knocking is how many wait at
// the relaxed door. Run is how often somebody has entered while nobody was inside,
// since the lock was taken: grants in a row, up to T_L. Mode is how the FIFO owns
// the lock:
//
//	              give up          take
//	first knock ─▶ born ─▶ unowned ─────▶ reading, writing
//	                          ▲               │
//	                          └─── give up ───┘
//
// Born is as good as writing: the lock was not taken, and nobody was let near it
// yet. Busy keeps everybody else off the lock, while somebody takes it or gives it
// up, and off all fields but knocking.
//
// # Who gives it up
//
// If nobody knocks the lock is kept, also while nobody is inside: then it is whoever
// knocks that gives it up. Since knocking stands in the same word as all else, there
// is no moment between looking and deciding.
//
// If somebody knocks, the last to leave marks the lock as passing, completes its
// request, and gives the lock up, unless that woke somebody and there were fewer
// than T_L grants in a row. Who was woken takes the mark away by entering, and until
// then it keeps those who knock from giving the lock up.
//
// Nobody waits for somebody of the same group: co-readers may rely on one another's
// grants, for that is what the FIFO promises. A group that readers keep joining
// therefore has no end, whoever knocks, as long as one of them is inside.
//
// # The beginning
//
// Before the first knock places acquire without looking here. Those that did so are
// strays, and so is every request made before, which may be one. First completed is
// marked: from then on nobody acquires unseen. Then requested is, so that tickets
// tell who came later. The difference of both at these moments is how many strays
// there are, and each is accounted for once: when it enters, otherwise when it
// completes. Meanwhile the FIFO owns the guard without having taken it (born), so
// that no place ever waits for a stray. A writer that enters, or that was a stray
// and completes, proves that there is none left inside, because all before it have
// completed.
//
// Nothing is put into the FIFO for it. A writer of the guard's own would split a
// group of readers, and those who rely on being granted together would wait for one
// another for ever.
type guard struct {
	r     *Resource
	locks Guard
	tl    uint64
	word  atomic.Uint64
	list  atomic.Pointer[waiter] // who waits for busy or born to end
	armed atomic.Bool
	debt  atomic.Int64 // strays that were not accounted for
}

const (
	oneMember = 1 << 0
	oneKnock  = 1 << 24
	oneRun    = 1 << 48
	stray     = 1 << 61
	passing   = 1 << 62
	busy      = 1 << 63

	memberMask = oneKnock - 1
	knockMask  = oneRun - oneKnock
	modeMask   = 3 << 59

	mostRun = 1<<11 - 1
	// unarmed is the debt before it is known, less what was accounted for already.
	unarmed = 1 << 62
)

// The modes of a guard.
const (
	unowned = iota << 59
	reading
	writing
	born
)

func members(v uint64) uint64 { return v & memberMask }

func run(v uint64) uint64 { return v / oneRun & mostRun }

func newGuard(r *Resource, g Guard, tl int) *guard {
	n := &guard{r: r, locks: g, tl: uint64(tl)}
	n.word.Store(born | stray)
	n.debt.Store(unarmed)
	return n
}

// arm makes everybody enter from now on.
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

// account takes note of so many strays that cannot be inside any more.
func (g *guard) account(strays int64) {
	g.r.point()
	left := g.debt.Add(-strays)
	g.r.saw(uint64(left))
	if left == 0 {
		g.drained()
	}
}

// drained takes note that no stray is inside.
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

// fits reports whether somebody may enter under the lock as the FIFO owns it.
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

// enough reports whether the FIFO has granted what it may while somebody knocks. A
// woken successor can come in before the lock is given up, and does that itself.
func (g *guard) enough(v uint64) bool {
	return v&memberMask == 0 && run(v) >= g.tl && v&knockMask != 0
}

// admit lets somebody in, whom the FIFO has granted, if the word is still v, which
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

// tryAdmit is admit for who does not wait. It also reports whether the word was
// still v.
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

// join makes somebody a member under the lock that the FIFO owns.
func (g *guard) join(v uint64) bool {
	if members(v) == memberMask {
		panic("resource: " + g.r.name + " is held by 1<<24 places at once: use fewer")
	}
	n := v&^passing + oneMember
	if members(v) == 0 && run(v) < g.tl {
		n += oneRun
	}
	return g.cas(v, n)
}

// taken ends being busy: with a first member, if there is one, or without the lock.
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
		if g.cas(v, v&knockMask|n) {
			break
		}
	}
	g.wake()
}

// seize makes it busy, if the word is still v, and releases the lock if it was
// owned.
func (g *guard) seize(v uint64) bool {
	invariant.Check(v&(memberMask|stray|busy) == 0, "the guard of %q is let go while it is %#x", g.r.name, v)
	if !g.cas(v, (v|busy)&^passing) {
		return false
	}
	switch v & modeMask {
	case reading:
		g.locks.Ordered.ReleaseRead()
	case writing:
		g.locks.Ordered.Release()
	}
	return true
}
