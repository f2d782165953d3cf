package lockstest

import (
	"context"

	"github.com/orwl/go-orwl/net/rma"
)

// spy is the window that a lock in a contest is given.
type spy struct {
	rma.Window
	match *Match
	rank  *contestant
}

// operates notes what the rank is about to do, and may end somebody's context.
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

// queues notes that the rank's first atomic operation of an acquire has happened:
// in a FIFO lock, that is how it queues up.
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
