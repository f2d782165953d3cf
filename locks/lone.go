package locks

import "sync/atomic"

// lone is how a rank takes a lock that nobody else wants, of those whose arrivals all
// change one word, the tail: it lines up, sees that it is the first, and if it still is
// when it lets go of the lock it puts the tail back by a CAS.
//
//	absent ──lines up──▶ present ──CAS──▶ absent
//	                        │
//	                        └─ somebody else lines up: the lock's own leave follows
//
// It is then as though the rank had not been there. No ticket was drawn, no node has
// changed hands, no turn is over; the next time all is as it was. So that is two atomic
// instructions, and no function of any lock; a cohort does it in both of its locks
// without asking which they are.
//
// A rank that finds anything but absent has lined up as it would have by the lock's own
// enter, which goes on from there; or it has changed nothing (byCAS), and enter begins.
//
// It knows absent since it let go of the lock last. A tail that counts may have come round
// to that value since, in 2^32 turns or more. For such a tail there is a word besides that
// tells whether the lock is free (sure).
//
// All this is for words that are reached directly. By operations the lock's own way is as
// short or shorter, but for MCS and Hemlock where ranks share memory: there a CAS in vain
// costs less than the look at the successor that it saves. The explorer goes alone by
// operations with all locks.
type lone struct {
	absent, present uint64
	tail, sure      word
	shows           uint64 // sure, if the lock is free
	by              arrival

	allowed bool
	lined   bool   // the rank has lined up, and there is more to it
	found   uint64 // what it found then
	nothing uint64 // sure, of a tail that does not count
}

// arrival is how ranks line up.
type arrival uint8

const (
	bySwap arrival = iota
	byCAS          // who finds anything but absent has not lined up yet
)

// goesAlone allows it to a rank.
func (s *seat) goesAlone(way lone) {
	if s.lone = way; way.sure.m == nil {
		s.lone.sure.at = &s.lone.nothing
	}
	s.allow(true)
}

// allow says whether the rank, which does not have the lock, may go alone from now on, if
// it may at all.
func (s *seat) allow(yes bool) {
	l := &s.lone
	if l.tail.m == nil {
		return
	}
	asShort := s.together && l.by == bySwap && l.sure.at == &l.nothing
	l.allowed = yes && (s.direct || asShort || s.o.lone)
	s.goesAtOnce(yes && s.direct)
}

// goesAtOnce says whether the rank, which does not have the lock, is ready for it whenever it
// has let go.
func (s *seat) goesAtOnce(yes bool) {
	if s.idle = free; yes {
		s.idle = ready
	}
	s.become(s.idle)
}

// enter takes the lock if it is free, or lines up; its words are reached directly.
func (l *lone) enter() bool {
	found := l.absent
	if l.by == bySwap {
		found = atomic.SwapUint64(l.tail.at, l.present)
	} else if !atomic.CompareAndSwapUint64(l.tail.at, l.absent, l.present) {
		return false
	}
	if found == l.absent && atomic.LoadUint64(l.sure.at) == l.shows {
		return true
	}
	l.found, l.lined = found, true
	return false
}

// farEnter is enter, wherever the words are.
func (l *lone) farEnter() bool {
	found := l.absent
	if l.by == bySwap {
		found = l.tail.swap(l.present)
	} else if !l.tail.cas(l.absent, l.present) {
		return false
	}
	if found == l.absent && l.sure.load() == l.shows {
		return true
	}
	l.found, l.lined = found, true
	return false
}

// arrived tells the lock's own way whether the rank has lined up already, and what it
// found.
func (l *lone) arrived() (found uint64, lined bool) {
	found, lined = l.found, l.lined
	l.lined = false
	return found, lined
}
