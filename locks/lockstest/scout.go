package lockstest

import (
	"context"
	"sync/atomic"

	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/rmatest"
)

// scout is the window of a lock in a case. It counts operations. It also calls back
// when its rank is about to wait inside the lock, which can happen in Await and Pause
// only. When a queue lock waits, it has queued up.
type scout struct {
	rma.Window
	tally *rmatest.Tally // the same window, for its counts
	// scout calls waits once, before the next wait, and stays once, before the next
	// Await. By then a lock that does not spin has announced its rank.
	waits, stays func()
}

// watched puts a scout on w. The window that it returns is an rma.Shared if w is one.
func watched(w rma.Window) (*scout, rma.Window) {
	tally := rmatest.NewTally(w)
	s := &scout{Window: tally, tally: tally}
	if shared, ok := w.(rma.Shared); ok {
		return s, sharedScout{s, shared}
	}
	return s, s
}

func (s *scout) tell() {
	if waits := s.waits; waits != nil {
		s.waits = nil
		waits()
	}
}

// Await implements rma.Window.
func (s *scout) Await(ctx context.Context, target rma.Rank, disp rma.Disp, until rma.Until) (uint64, error) {
	s.tell()
	if stays := s.stays; stays != nil {
		s.stays = nil
		stays()
	}
	return s.Window.Await(ctx, target, disp, until)
}

// Pause implements rma.Window.
func (s *scout) Pause(n int) {
	s.tell()
	s.Window.Pause(n)
}

type sharedScout struct {
	*scout
	shared rma.Shared
}

func (s sharedScout) Direct(target rma.Rank, disp rma.Disp) (rma.Word, bool) {
	return s.shared.Direct(target, disp)
}

func (s sharedScout) Memory(target rma.Rank, disp rma.Disp, n int) ([]uint64, bool) {
	return s.shared.Memory(target, disp, n)
}

func (s sharedScout) Notify(target rma.Rank, disp rma.Disp) { s.shared.Notify(target, disp) }

func (s sharedScout) Failed() *atomic.Bool { return s.shared.Failed() }

// Watch returns w for a lock. The window calls waits once, when its rank is about to
// wait in the lock.
func Watch(w rma.Window, waits func()) rma.Window {
	s, seen := watched(w)
	s.waits = waits
	return seen
}
