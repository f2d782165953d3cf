package printed

import (
	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/net/rma"
)

// rh is RH-printed: RH as Uffmann has it (2022, §5.2), from Radović and Hagersten. The statuses are those of RH in package
// locks. A waiter differs:
//
//   - inside its element it looks at the status by an instruction, and pauses between two looks, twice as long each time;
//   - for another element's status it tries by CAS again and again. It never looks there first, because a look is late.
//
// RH of package locks waits until a word changes, which spares the processor, and tries then. So a rank that has let the
// lock go has it again before another one's try arrives.
//
// A turn of each loop calls MPI_Iprobe, which is a Pause of 1 here. The fairness factor of the thesis is a chance. It is a
// number of acquisitions in a row here, as in package locks.
type rh struct {
	*side
	words
	element int
	first   int // the element that has the lock at first
	run     uint64
	factor  uint64
	pauses  int      // the longest Pause
	look    rma.Word // of the own element, if looks
	looks   bool
}

// The kinds of a status. One that names an element has none.
const (
	rhHeld = 1 << 62
	rhLeft = 2 << 62
	rhKind = 3 << 62
)

// rhPauses is the longest pause by default, in turns of the loop: the thesis's local optimum.
const rhPauses = 32

func newRH(s *side, at words) algorithm {
	n := at.tree.Levels()
	l := &rh{side: s, words: at, element: at.tree.Element(s.w.Rank(), n), first: at.tree.Element(at.home, n), factor: locks.DefaultTL, pauses: rhPauses}
	if tl := at.options.TL; len(tl) == n {
		l.factor = uint64(tl[n-1])
	}
	if most := at.options.Backoff.Max; most > 0 {
		l.pauses = most
	}
	if shared, ok := s.w.(rma.Shared); ok && at.direct {
		l.look, l.looks = shared.Direct(l.statusOf(l.element))
	}
	return l
}

// statusOf is where an element has its status.
func (l *rh) statusOf(element int) (rma.Rank, rma.Disp) {
	return l.tree.TailRank(l.tree.Levels(), element), l.rank
}

// to is the status that names an element, and named the element. It is free in the element itself.
func (l *rh) to(element int) uint64   { return uint64(element) ^ uint64(l.first) }
func (l *rh) named(status uint64) int { return int(status ^ uint64(l.first)) }

func (l *rh) held() uint64 { return rhHeld | uint64(l.w.Rank()) }

// swap puts the rank's number into the status of its element.
func (l *rh) swap() uint64 {
	at, disp := l.statusOf(l.element)
	return l.w.FetchOp(at, disp, rma.Replace, l.held())
}

// status is the status of the own element.
func (l *rh) status() uint64 {
	if l.looks {
		return l.look.Load()
	}
	at, disp := l.statusOf(l.element)
	return l.w.Get(at, disp)
}

func (l *rh) enter() (waited bool, err error) {
	found := l.swap()
	for pause := 1; found&rhKind == rhHeld && l.w.Err() == nil; pause = min(2*pause, l.pauses) {
		waited = true
		l.w.Pause(pause)
		if found = l.status(); found&rhKind != rhHeld {
			found = l.swap()
		}
	}
	if found&rhKind == rhLeft {
		l.run = found&^rhKind + 1
		return waited, nil
	}
	l.run = 1
	if found != l.to(l.element) {
		waited = l.goFor(l.named(found)) || waited
	}
	if l.w.Err() == nil {
		l.upperCount.Inc()
	}
	return waited, nil
}

// goFor brings the lock from another element, where it is or was last seen.
func (l *rh) goFor(element int) (waited bool) {
	for l.w.Err() == nil {
		at, disp := l.statusOf(element)
		switch found := l.w.CAS(at, disp, l.to(element), l.to(l.element)); {
		case found == l.to(element):
			return waited
		case found&rhKind == 0:
			element = l.named(found)
		default:
			waited = true
			l.w.Pause(1)
		}
	}
	return waited
}

func (l *rh) tryEnter() bool {
	at, disp := l.statusOf(l.element)
	found := l.w.Get(at, disp)
	if found&rhKind == rhHeld || l.w.CAS(at, disp, found, l.held()) != found {
		return false
	}
	if l.run = 1; found&rhKind == rhLeft {
		l.run = found&^rhKind + 1
		return true
	}
	for element := l.named(found); found != l.to(l.element); element = l.named(found) {
		at, disp := l.statusOf(element)
		if found = l.w.CAS(at, disp, l.to(element), l.to(l.element)); found == l.to(element) {
			break
		}
		if found&rhKind != 0 {
			l.publish(l.to(element))
			return false
		}
	}
	l.upperCount.Inc()
	return true
}

func (l *rh) leave() {
	at, disp := l.statusOf(l.element)
	switch {
	case l.factor > 1 && l.w.CAS(at, disp, l.held(), l.to(l.element)) == l.held():
	case l.run < l.factor:
		l.passedCount.Inc()
		l.publish(rhLeft | l.run)
		l.handedOver()
	default:
		l.publish(l.to(l.element))
		l.handedOver()
	}
}

func (l *rh) publish(status uint64) {
	at, disp := l.statusOf(l.element)
	l.replace(at, disp, status)
}
