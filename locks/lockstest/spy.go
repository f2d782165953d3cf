package lockstest

import (
	"context"
	"sync/atomic"

	"github.com/orwl/go-orwl/net/rma"
)

// spy is the window of a lock in a contest. It observes the lock's operations.
type spy struct {
	rma.Window
	match *Match
	rank  *contestant
}

// operates notes the operation that the rank is about to perform. It may end the
// context of an acquiring rank.
func (s *spy) operates(kind uint64, target rma.Rank, disp rma.Disp) {
	s.rank.next = scramble(scramble(kind, uint64(target)), uint64(disp))
	m := s.match
	if m.c.Quits > 0 && m.c.Quit.IntN(m.c.Quits) == 0 {
		if r := &m.all[m.c.Quit.IntN(len(m.all))]; r.quit != nil {
			r.exempt = true
			r.quit()
		}
	}
}

// queues notes that the first atomic operation of an acquire has happened. In a FIFO
// lock the rank queues up by this operation.
func (s *spy) queues() {
	if s.rank.wants && !s.rank.queued && s.Err() == nil {
		s.rank.queued = true
		s.match.queue(s.Rank())
	}
}

func (s *spy) Get(target rma.Rank, disp rma.Disp) uint64 {
	s.operates(1, target, disp)
	return s.Window.Get(target, disp)
}

func (s *spy) FetchOp(target rma.Rank, disp rma.Disp, op rma.Op, operand uint64) uint64 {
	s.operates(2, target, disp)
	v := s.Window.FetchOp(target, disp, op, operand)
	s.queues()
	return v
}

func (s *spy) CAS(target rma.Rank, disp rma.Disp, old, new uint64) uint64 {
	s.operates(3, target, disp)
	v := s.Window.CAS(target, disp, old, new)
	if v == old {
		s.queues()
	}
	return v
}

// HandedOver and Returns implement rma.Considerate.
func (s *spy) HandedOver()     {}
func (s *spy) Returns(int) int { return 0 }

func (s *spy) Flush(target rma.Rank) {
	s.operates(4, target, 0)
	s.Window.Flush(target)
}

func (s *spy) FlushAll() {
	s.operates(5, 0, 0)
	s.Window.FlushAll()
}

func (s *spy) Await(ctx context.Context, target rma.Rank, disp rma.Disp, until rma.Until) (uint64, error) {
	s.operates(6, target, disp)
	return s.Window.Await(ctx, target, disp, until)
}

func (s *spy) Pause(n int) {
	s.operates(7, 0, 0)
	s.Window.Pause(n)
}

// sharedSpy is a spy on a window whose ranks share memory.
type sharedSpy struct {
	*spy
	shared rma.Shared
}

// spied puts a spy on w, for a lock in a contest.
func spied(w rma.Window, m *Match, r *contestant) rma.Window {
	s := &spy{Window: w, match: m, rank: r}
	if shared, ok := w.(rma.Shared); ok {
		return sharedSpy{s, shared}
	}
	return s
}

func (s sharedSpy) Direct(target rma.Rank, disp rma.Disp) (rma.Word, bool) {
	word, ok := s.shared.Direct(target, disp)
	if !ok {
		return word, false
	}
	return rma.WordBy(&spiedWord{s.spy, word}, target, disp), true
}

func (s sharedSpy) Memory(target rma.Rank, disp rma.Disp, n int) ([]uint64, bool) {
	return s.shared.Memory(target, disp, n)
}

func (s sharedSpy) Notify(target rma.Rank, disp rma.Disp) {
	s.operates(8, target, disp)
	s.shared.Notify(target, disp)
}

func (s sharedSpy) Failed() *atomic.Bool { return s.shared.Failed() }

// spiedWord is a word that the lock accesses directly.
type spiedWord struct {
	*spy
	word rma.Word
}

func (s *spiedWord) Load(target rma.Rank, disp rma.Disp) uint64 {
	s.operates(9, target, disp)
	return s.word.Load()
}

func (s *spiedWord) Store(target rma.Rank, disp rma.Disp, v uint64) {
	s.operates(10, target, disp)
	s.word.Store(v)
}

func (s *spiedWord) Swap(target rma.Rank, disp rma.Disp, v uint64) uint64 {
	s.operates(11, target, disp)
	old := s.word.Swap(v)
	s.queues()
	return old
}

func (s *spiedWord) Add(target rma.Rank, disp rma.Disp, delta uint64) uint64 {
	s.operates(12, target, disp)
	old := s.word.Add(delta)
	s.queues()
	return old
}

func (s *spiedWord) CompareAndSwap(target rma.Rank, disp rma.Disp, old, new uint64) bool {
	s.operates(13, target, disp)
	swapped := s.word.CompareAndSwap(old, new)
	if swapped {
		s.queues()
	}
	return swapped
}
