package lockers

import "context"

// Goroutines that read at the same time use a seat together, as a group. Its first reader
// takes the seat, acquires the lock for reading, and admits the others. The last one ends
// the group.
//
//	held ──admit──▶ readers ──part──▶ held ──end──▶ free
//	                  ⟲ join, part
//
// Others may join until mostReaders have: a group without an end would keep out writers.
// A goroutine that waits for the seat is overtaken by these, too.
//
// In the state, readers counts those inside, and joined those who came since the rank got
// the lock. groups counts how often there was a reader after there was none. reads says
// that the rank has the lock for reading. writes says that it has the lock for writing,
// where a seat may keep that (seat_keep.go).
const (
	readerBits  = 10
	oneReader   = oneTurn << turnBits
	oneJoined   = oneReader << readerBits
	seatKeeps   = oneJoined << readerBits
	seatReads   = seatKeeps << 1
	seatWrites  = seatReads << 1
	oneGroup    = seatWrites << 1
	readersMask = oneJoined - oneReader
	joinedMask  = seatKeeps - oneJoined

	mostReaders = 1000
)

// open reports whether a reader may join.
func open(v uint64) bool {
	return v&(seatHeld|seatWrites) == 0 && v&(readersMask|seatKeeps) != 0 && v&joinedMask != mostReaders*oneJoined
}

// full reports whether there are readers, and none may join.
func full(v uint64) bool { return v&readersMask != 0 && v&joinedMask == mostReaders*oneJoined }

// joined is the state v with one reader more.
func joined(v uint64) uint64 {
	if v&readersMask == 0 {
		v += oneGroup
	}
	return v + oneReader + oneJoined
}

// join makes the caller a reader, if it may join, and reports whether it did.
func (s *seat) join() bool {
	for {
		v := s.state.Load()
		if !open(v) {
			return false
		}
		if s.state.CompareAndSwap(v, joined(v)) {
			return true
		}
	}
}

// joinAtOnce is join, if no other goroutine interferes and the lock is intact.
func (s *seat) joinAtOnce() bool {
	v := s.state.Load()
	return open(v) && !s.failed.Load() && s.state.CompareAndSwap(v, joined(v))
}

// joinedIntact ends joining. It takes the reader out again if the lock is broken, or ctx has
// ended.
func (s *seat) joinedIntact(ctx context.Context) error {
	err := s.intact(ctx)
	if err != nil {
		s.part()
	}
	return err
}

// admit makes the goroutine that holds the seat a reader. The rank got the lock as grant
// says, or had it before.
func (s *seat) admit(grant uint64) {
	s.state.Add(oneReader + oneJoined + oneGroup + grant - seatHeld)
	if grant&seatKeeps != 0 && s.bias.writers.Load() != 0 {
		s.revoke(0)
	}
	s.call()
}

// part takes out a reader, if there is one, and reports whether it did.
func (s *seat) part() bool {
	for {
		v := s.state.Load()
		if v&readersMask == 0 {
			return false
		}
		next := v - oneReader
		last := next&readersMask == 0
		over := last && (v&seatKeeps == 0 || full(v))
		if over || last && v&seatOwed != 0 {
			next |= seatHeld
		}
		if !s.state.CompareAndSwap(v, next) {
			continue
		}
		if over {
			s.end()
		}
		if next&seatHeld != 0 {
			s.leaveKept()
		}
		return true
	}
}

// partAtOnce is part, if no other goroutine interferes and the rank goes on to have the
// lock.
func (s *seat) partAtOnce() bool {
	v := s.state.Load()
	goesOn := v&readersMask > oneReader || v&readersMask == oneReader && v&(seatKeeps|seatOwed) == seatKeeps && !full(v)
	return goesOn && s.state.CompareAndSwap(v, v-oneReader)
}

// end releases the lock, which the rank has, for the goroutine that holds the seat.
func (s *seat) end() {
	const has = seatKeeps | seatReads | seatWrites | joinedMask
	v := s.state.And(^uint64(has))
	if v&seatKeeps != 0 {
		s.bias.keepers.Add(-1)
	}
	joins := v & joinedMask / oneJoined
	if v&seatWrites != 0 {
		s.joins.Add(joins)
		s.mutex.Release()
	} else {
		s.joins.Add(joins - 1) // the first one acquired the lock
		s.rw.ReleaseRead()
	}
}
