package rmatest

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/orwl/go-orwl/net/rma"
)

// Survival executes what rma.Survivor promises, on the windows of at least three ranks that stay.
// lose makes another rank lost, and close closes the fabric. There are two words at at. No rank
// is lost yet.
func Survival(ctx context.Context, windows []rma.Survivor, at rma.Disp, lost rma.Rank, lose, close func()) error {
	s := &survival{ctx: ctx, windows: windows, at: at, lost: lost}
	waiting := s.waiters()
	patient := s.patient()
	lose()
	s.ended(waiting(), rma.ErrPeerLost)
	s.goesOn()
	s.fails()
	s.wakes()
	windows[1].Put(windows[0].Rank(), at+1, 7)
	s.check(patient(), "Await, which goes on after a loss,")
	waiting = s.waiters()
	close()
	s.ended(waiting(), rma.ErrClosed)
	return errors.Join(s.errs...)
}

type survival struct {
	ctx     context.Context
	windows []rma.Survivor
	at      rma.Disp
	lost    rma.Rank
	errs    []error
}

func (s *survival) fail(format string, args ...any) {
	s.errs = append(s.errs, fmt.Errorf(format, args...))
}

func (s *survival) check(err error, what string) {
	if err != nil {
		s.fail("%s ended with %v", what, err)
	}
}

// waiters lets all ranks but the first wait in their epochs: for a word of their own, for one of another
// rank, or in the window of an epoch.
func (s *survival) waiters() (ended func() []error) {
	var all, begun sync.WaitGroup
	errs := make([]error, len(s.windows))
	for i, w := range s.windows[1:] {
		begun.Add(1)
		all.Go(func() {
			e := w.Epoch()
			target := s.windows[i].Rank()
			if i == 0 {
				target = w.Rank()
			}
			begun.Done()
			if i == 1 {
				_, errs[i+1] = rma.During(w, e).Await(s.ctx, target, s.at, rma.Is(99))
			} else {
				_, errs[i+1] = w.AwaitIn(s.ctx, e, target, s.at, rma.Is(99))
			}
		})
	}
	begun.Wait()
	return func() []error { all.Wait(); return errs[1:] }
}

// patient lets the first rank wait for a value without an epoch.
func (s *survival) patient() (ended func() error) {
	done := make(chan error)
	go func() {
		w := s.windows[0]
		_, err := w.Await(s.ctx, w.Rank(), s.at+1, rma.Is(7))
		done <- err
	}()
	return func() error { return <-done }
}

func (s *survival) ended(errs []error, want error) {
	for i, err := range errs {
		var loss *rma.PeerLostError
		if !errors.Is(err, want) || errors.As(err, &loss) && loss.Rank != s.lost {
			s.fail("waiter %d ended with %v, want %v of rank %d", i+1, err, want, s.lost)
		}
	}
}

// goesOn looks at the epochs after the loss, and uses the windows.
func (s *survival) goesOn() {
	for i, w := range s.windows[1:] {
		e := w.Epoch()
		if e.Number() != 1 || !e.Lost(s.lost) || e.Lost(w.Rank()) || e.Err() != nil || w.Err() != nil {
			s.fail("after a loss, rank %d has epoch %d, lost: %t, itself: %t, with %v; its window has %v",
				w.Rank(), e.Number(), e.Lost(s.lost), e.Lost(w.Rank()), e.Err(), w.Err())
		}
		w.Put(s.lost, s.at, uint64(i))
		w.Flush(s.lost)
		if got := w.FetchOp(s.lost, s.at, rma.Sum, 1); got != uint64(i) {
			s.fail("a lost rank's word is %d, want %d", got, i)
		}
	}
}

// fails uses the window of an epoch that has ended.
func (s *survival) fails() {
	w := s.windows[1]
	over := new(rma.Epoch)
	over.End(rma.ErrPeerLost)
	d := rma.During(w, over)
	target := w.Rank()
	w.Put(target, s.at, 5)
	w.Flush(target)
	d.Put(target, s.at, 6)
	d.PutBytes(target, s.at, []byte{1, 2, 3, 4, 5, 6, 7, 8})
	d.Accumulate(target, s.at, rma.Sum, 1)
	into := []byte{1, 2, 3, 4, 5, 6, 7, 8}
	d.GetBytes(target, s.at, into)
	got := d.Get(target, s.at) + d.FetchOp(target, s.at, rma.Sum, 1) + d.CAS(target, s.at, 5, 6)
	_, err := d.Await(s.ctx, target, s.at, rma.Is(5))
	_, attached := d.Attach(1)
	if got != 0 || [8]byte(into) != [8]byte{} || w.Get(target, s.at) != 5 || !errors.Is(err, rma.ErrPeerLost) || !errors.Is(d.Err(), rma.ErrPeerLost) || !errors.Is(attached, rma.ErrPeerLost) {
		s.fail("the window of an ended epoch returned %d and %v, left %d, and failed with %v, %v, %v", got, into, w.Get(target, s.at), err, d.Err(), attached)
	}
	if shared, ok := d.(rma.Shared); ok {
		if _, ok := shared.Direct(target, s.at); ok || !shared.Failed().Load() {
			s.fail("the window of an ended epoch gives direct access")
		}
	}
	if d := rma.During(w, w.Epoch()); d.Get(target, s.at) != 5 || d.Err() != nil {
		s.fail("the window of this epoch reads %d and has failed with %v", d.Get(target, s.at), d.Err())
	}
	w.Put(target, s.at, 0)
	w.Flush(target)
}

// wakes waits in the new epoch: for a value that comes, and for the end of a context.
func (s *survival) wakes() {
	w, by := s.windows[1], s.windows[2]
	done := make(chan error)
	go func() {
		_, err := w.AwaitIn(s.ctx, w.Epoch(), w.Rank(), s.at, rma.Is(3))
		done <- err
	}()
	by.Put(w.Rank(), s.at, 3)
	by.Flush(w.Rank())
	s.check(<-done, "a wait in the new epoch")
	ctx, cancel := context.WithCancel(s.ctx)
	cancel()
	if _, err := w.AwaitIn(ctx, w.Epoch(), w.Rank(), s.at, rma.Is(4)); !errors.Is(err, context.Canceled) {
		s.fail("a wait whose context has ended returned %v", err)
	}
}
