package locks

import (
	"context"

	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/topology"
)

// rh is RH, the lock of Radović and Hagersten, SC'02, the first one that knew of nodes
// (Uffmann 2022, §5.2). Each element of the finest level has a TTS lock, in a status at its
// tail rank. The lock is in one of the elements: there it is free or held. The status of
// every other element says where the lock went from there.
//
//	element 0          element 1          element 2
//	remote: 1 ───────▶ remote: 2 ───────▶ free, held or left
//
// RH has two nodes, so a remote status says no more than "the other one". Here there may be
// any number of elements, as in §5.2.1, and a rank follows the statuses to the lock.
//
//	          63 ... 62   61 ... 0
//	remote   │    0     │ element │   the lock is in another element, or was
//	free     │    0     │ own     │   any rank may take it
//	held     │    1     │ rank    │   the last rank of the element that has swapped
//	left     │    2     │ run     │   free for the ranks of the element (L_FREE)
//
// An element is stored as a difference from the home's, so that zeroed memory is a free lock
// at home.
//
// A rank swaps its number into its own element's status. The old value decides:
//
//   - free, or left: it has the lock.
//   - remote: it goes for the lock, on behalf of its element. The ranks that come after it
//     find its number. It turns the free status of the lock's element into a remote one
//     by CAS, without looking first: a look is late where the lock is far away.
//   - held: it waits for the lock inside the element, and swaps again when another rank may
//     have it.
//
// A release is a CAS of the own number to free. It fails if another rank has swapped since,
// so if a neighbour waits. Then the lock is left to the element, or freed for all after
// T_L,N acquisitions in a row. The original draws a random number instead, and frees the lock
// for all once in T_L,N times on average (the fairness factor). The count travels in the status.
//
// Invariant: one element's status is free or left, or its holder is the last rank that found
// free, left or remote there. In every other element at most one rank goes for the lock. The
// statuses lead to the lock without a circle: each one names the element to which the lock
// went when it was last there, so the next one is younger.
//
// A rank that has swapped cannot give up: the holder relies on it to take what is left. Only
// the one that goes for the lock could, and a failed try does: it puts back a remote status,
// and a neighbour that has come meanwhile goes instead.
//
// Memory order: side.end completes what the holder did, before the CAS or the store of the
// status, which is flushed itself.
//
// Fairness: none. After T_L,N acquisitions in a row inside an element any rank may take the
// lock, and one that is near is the fastest.
//
// Cost, away from the own element's tail rank: a swap to acquire and a CAS to release if the
// lock is in the element. If it is in another one, a CAS there, and for every element through
// which it went meanwhile a CAS. A rank that waits tries again and again.
type rh struct {
	side
	element int    // the own one
	first   uint64 // the one that has the lock at first
	status  word   // the own element's
	run     uint64
	tl      uint64
}

// The kinds of a status. An element, remote or own, has none.
const (
	rhHeld = 1 << 62
	rhLeft = 2 << 62
	rhKind = 3 << 62
)

func newRH(lock *Lock, w rma.Window) Mutex {
	l := padded(rh{})
	l.init(lock, w)
	n := l.topo.Levels()
	l.element, l.first = l.topo.Element(l.rank, n), uint64(l.topo.Element(l.home, n))
	l.tl = uint64(l.o.TL[n-1])
	l.status = l.statusOf(l.element)
	return l
}

func wordsOfRH(*topology.Tree, Options) Words { return Words{Rank: 1} }

func (l *rh) statusOf(element int) word {
	return l.at(l.topo.TailRank(l.topo.Levels(), element), 0)
}

// to is the status that names an element. It is free in the element itself.
func (l *rh) to(element int) uint64 { return uint64(element) ^ l.first }

// named is the element that a status names.
func (l *rh) named(status uint64) int { return int(status ^ l.first) }

// held is the status of the own element while the rank is the last that has swapped.
func (l *rh) held() uint64 { return rhHeld | uint64(l.rank) }

// Acquire implements Mutex.
func (l *rh) Acquire(ctx context.Context) error {
	if err := l.arrive(ctx); err != nil {
		return err
	}
	found, e := l.enter()
	if l.run = 1; found&rhKind == rhLeft {
		l.run, e.upper = found&^rhKind+1, false
	} else if found != l.to(l.element) {
		e.grant = l.goFor(l.named(found))
	}
	if err := l.decided(); err != nil {
		return err
	}
	l.came(writing, e)
	return nil
}

// enter swaps until the rank has the lock of its element, and returns the status that it
// found. It also returns if the window fails; so does goFor.
func (l *rh) enter() (found uint64, e entry) {
	e.upper = true
	b := newBackoff(&l.side)
	for found = l.status.Swap(l.held()); found&rhKind == rhHeld; {
		e.waited = true
		if b.wait(forever(), &l.status, rma.IsNot(rhHeld).Masked(rhKind)) != nil {
			break
		}
		if found = l.status.Load(); found&rhKind != rhHeld {
			found = l.status.Swap(l.held())
		}
	}
	return found, e
}

// goFor brings the lock from another element, where it is or was last seen, and returns
// granted if it had to wait for it.
func (l *rh) goFor(element int) (grant uint64) {
	b := backoff{l.o.RemoteBackoff.Min, l.o.RemoteBackoff.Max}
	for !l.broken() {
		theirs := l.statusOf(element)
		found := l.w.CAS(theirs.Target, theirs.Disp, l.to(element), l.to(l.element))
		if found == l.to(element) {
			break
		}
		if found&rhKind == 0 {
			element = l.named(found)
			continue
		}
		grant = granted
		if b.wait(forever(), &theirs, rma.Is(0).Masked(rhKind)) != nil {
			break
		}
	}
	return grant
}

// TryAcquire implements Tryer.
func (l *rh) TryAcquire() bool {
	if l.begin(forever()) != nil {
		return false
	}
	found := l.status.Load()
	if found&rhKind == rhHeld || !l.status.CompareAndSwap(found, l.held()) {
		return false
	}
	if l.run = 1; found&rhKind == rhLeft {
		l.run = found&^rhKind + 1
	} else if found != l.to(l.element) && !l.tryGoFor(l.named(found)) {
		return false
	}
	return l.tried(writing, true)
}

// tryGoFor brings the lock from another element if it is free there. Otherwise it puts back
// a status that names the element.
func (l *rh) tryGoFor(element int) bool {
	for {
		theirs := l.statusOf(element)
		if theirs.CompareAndSwap(l.to(element), l.to(l.element)) {
			return true
		}
		found := theirs.Load()
		if found&rhKind != 0 || l.broken() {
			l.status.publish(l.to(element))
			return false
		}
		element = l.named(found)
	}
}

// Release implements Mutex.
func (l *rh) Release() {
	switch {
	case !l.end(writing):
	case l.tl > 1 && l.status.CompareAndSwap(l.held(), l.to(l.element)): // with 1 it is free for all, whether or not a neighbour waits
		l.status.wake() // a rank of another element may wait
	case l.run < l.tl:
		l.counts.passed.Inc()
		l.status.publish(rhLeft | l.run)
		l.handedOver()
	default:
		l.status.publish(l.to(l.element))
		l.handedOver()
	}
}

// Alone implements Cohort.
func (l *rh) Alone() bool { return l.status.Load() == l.held() }
