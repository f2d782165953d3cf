package lockstest

import (
	"context"
	"sync/atomic"

	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/rmatest"
)

// scout is the window that a lock in a case is given. It counts, and tells when
// its rank is about to wait inside the lock: a lock may do so in Await and Pause
// only. A queue lock that waits has queued up.
type scout struct {
	rma.Window
	tally *rmatest.Tally // the Window
	// waits is called once, before the next wait, and stays before the next Await:
	// by then a lock that does not spin has announced its rank.
	waits, stays func()
}

// watched is w with a scout. What it returns second is an rma.Shared if w is.
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

// Watch is w for a lock, and tells once when the rank is about to wait in it.
func Watch(w rma.Window, waits func()) rma.Window {
	s, seen := watched(w)
	s.waits = waits
	return seen
}
