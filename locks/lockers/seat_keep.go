package lockers

import (
	"context"
	"sync/atomic"

	"github.com/orwl/go-orwl/locks"
)

// A seat of an RWLocker may keep the lock, for reading or for writing, when its goroutines
// have gone. Then the next one comes and goes by one atomic instruction each, on a cache
// line of its processor, and the lock below is not touched. Goroutines of other processors
// ask for what is kept:
//
//	seat    keeps the lock ───────────────▶ is there one that asks? then it does not keep
//	asker   counts itself as one that asks ▶ does a seat keep the lock? revokes it
//
// One of them sees the other. A reader revokes what is kept for writing, a writer revokes
// everything. The asker then acquires the lock by its own rank, in the lock's own order. It
// is counted until it has the lock, so no seat keeps the lock meanwhile.
//
// Only goroutines of this RWLocker ask. So it keeps nothing if other ranks use the lock.
// Where processors compete, to keep the lock only makes hand-overs longer. So a seat whose
// lock was revoked first acquires and releases it impatience times.
//
// In the state, keeps says that the seat keeps the lock. The asker takes that back: then
// the last goroutine inside releases the lock, or the asker does if there is none.
type bias struct {
	_       [line]byte
	readers atomic.Int32 // readers that ask
	writers atomic.Int32 // writers that ask
	keepers atomic.Int32 // seats
	_       [line]byte
}

// impatience is a compromise. See BenchmarkLockers of package orwl.
const impatience = 32

// acquire acquires the lock, where seats may keep it, for a goroutine that holds the seat.
// The state was v when it took the seat.
func (s *seat) acquire(ctx context.Context, v uint64, all []seat) error {
	b := s.bias
	if v&seatWrites != 0 {
		s.joins.Inc()
		return s.intact(ctx)
	}
	if v&seatReads != 0 {
		s.end()
	}
	b.writers.Add(1)
	b.revoke(all, 0)
	err := s.mutex.Acquire(ctx)
	b.writers.Add(-1)
	return err
}

// tryAcquire is acquire that does not wait, and reports whether the rank has the lock.
func (s *seat) tryAcquire(v uint64, all []seat) bool {
	if v&seatWrites != 0 {
		s.joins.Inc()
		return s.intact(context.Background()) == nil
	}
	if v&seatReads != 0 {
		s.end()
	}
	if s.bias != nil {
		s.bias.revoke(all, 0)
	}
	try, ok := s.mutex.(locks.Tryer)
	return ok && try.TryAcquire()
}

// acquireRead is acquire for a reader. It returns what admit has to know.
func (s *seat) acquireRead(ctx context.Context, v uint64, all []seat) (grant uint64, err error) {
	b := s.bias
	s.endWriting(v)
	switch try, ok := s.rw.(locks.ReadTryer); {
	case v&seatReads != 0:
		return 0, s.intact(ctx)
	case b == nil:
		err = s.rw.AcquireRead(ctx)
	case ok && ctx.Err() == nil && try.TryAcquireRead():
	default:
		b.readers.Add(1)
		b.revoke(all, seatWrites)
		err = s.rw.AcquireRead(ctx)
		b.readers.Add(-1)
	}
	if err != nil {
		return 0, err
	}
	return seatReads | s.keep(), nil
}

// endWriting releases the lock if the rank has it for writing. A reader that came in by that would keep readers of other
// processors out, and one of them may be what it waits for.
func (s *seat) endWriting(v uint64) {
	if v&seatWrites != 0 {
		s.end()
	}
}

// tryAcquireRead is acquireRead that does not wait, and reports whether the rank has the
// lock.
func (s *seat) tryAcquireRead(v uint64, all []seat) (grant uint64, ok bool) {
	s.endWriting(v)
	if v&seatReads != 0 {
		return 0, s.intact(context.Background()) == nil
	}
	try, ok := s.rw.(locks.ReadTryer)
	if !ok {
		return 0, false
	}
	if ok = try.TryAcquireRead(); !ok && s.bias != nil {
		s.bias.revoke(all, seatWrites)
		ok = try.TryAcquireRead()
	}
	if !ok {
		return 0, false
	}
	return seatReads | s.keep(), true
}

// intact is what a lock asks at the beginning of an acquire, if the rank has the lock.
func (s *seat) intact(ctx context.Context) error {
	if !s.failed.Load() {
		return ctx.Err()
	}
	if err := s.w.Err(); err != nil {
		return &locks.BrokenError{Lock: s.of.Name(), Rank: s.w.Rank(), Cause: err}
	}
	return ctx.Err()
}

// keep returns seatKeeps if the seat may keep the lock that it got.
func (s *seat) keep() uint64 {
	switch {
	case s.bias == nil:
		return 0
	case s.patience > 0:
		s.patience--
		return 0
	}
	s.bias.keepers.Add(1)
	return seatKeeps
}

// release lets go of the lock that the rank has for writing, where seats may keep it.
func (s *seat) release() {
	if s.state.Load()&seatWrites == 0 {
		keeps := s.keep()
		if keeps == 0 {
			s.mutex.Release()
			s.leave()
			return
		}
		s.state.Add(keeps | seatWrites)
		if s.bias.writers.Load() != 0 || s.bias.readers.Load() != 0 {
			s.revoke(0)
		}
	}
	s.leaveKept()
}

// leaveKept is leave where the rank may have the lock.
func (s *seat) leaveKept() {
	for {
		v := s.state.Load()
		switch {
		case v&(seatReads|seatWrites) == 0:
		case v&seatKeeps != 0:
			if !s.leaveFrom(v) {
				continue
			}
			s.call() // for one that has come meanwhile
			return
		default: // revoked meanwhile
			s.patience = impatience
			s.end()
		}
		s.leave()
		return
	}
}

// revoke takes back the lock from all seats that keep it: for writing, or in any case.
func (b *bias) revoke(seats []seat, kind uint64) {
	if b.keepers.Load() == 0 {
		return
	}
	for i := range seats {
		seats[i].revoke(kind)
	}
}

// revoke takes back the lock if the seat keeps it, and kind is a part of the state.
func (s *seat) revoke(kind uint64) {
	for {
		v := s.state.Load()
		if v&seatKeeps == 0 || v&kind != kind {
			return
		}
		next := v &^ seatKeeps
		idle := v&(seatHeld|readersMask) == 0
		if idle {
			next |= seatHeld
		}
		if !s.state.CompareAndSwap(v, next) {
			continue
		}
		s.bias.keepers.Add(-1)
		if idle {
			s.patience = impatience
			s.end()
			s.leave()
		}
		return
	}
}
