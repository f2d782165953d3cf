package lockstest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/rmatest"
	"github.com/orwl/go-orwl/net/topology"
)

// player is a rank in a case. Its own operations go through its window. The lock's
// operations go through a scout on that window.
type player struct {
	rma.Window
	ctx     context.Context
	me      rma.Rank
	ranks   int
	tree    *topology.Tree
	base    rma.Disp
	met     int
	lock    locks.Mutex
	scout   *scout
	seen    rma.Window // the lock's window
	subject Subject
	options locks.Options
	shared  *shared
}

// shared is what the ranks of one process share, in addition to the window. The lock
// has no access to it.
type shared struct {
	mu     sync.Mutex
	cancel []func() // ends the context with which a rank acquires now
	close  func() error
}

// fail ends the rank's part in the case.
func (p *player) fail(format string, args ...any) {
	panic(failure{fmt.Errorf("rank %d: %w", p.me, fmt.Errorf(format, args...))})
}

// skip ends the case, because the lock does not have the feature. All ranks skip.
func (p *player) skip(why string) {
	panic(failure{fmt.Errorf("%s %s: %w", p.subject.Spec.Name, why, ErrSkip)})
}

func (p *player) check(err error) {
	if err != nil {
		p.fail("%w", err)
	}
}

// equal fails if got differs from want.
func (p *player) equal(got, want uint64, what string, args ...any) {
	if got != want {
		p.fail("%s is %d, want %d", fmt.Sprintf(what, args...), int64(got), int64(want))
	}
}

// Signals are words at rank 0 that count up.

func (p *player) add(i int, n uint64) uint64 {
	return p.FetchOp(0, p.base+signal+rma.Disp(i), rma.Sum, n)
}

// tell adds one to a signal. It returns how often the signal was told before.
func (p *player) tell(i int) int { return int(p.add(i, 1)) }

// told is how often a signal has been told.
func (p *player) told(i int) int {
	n := p.FetchOp(0, p.base+signal+rma.Disp(i), rma.NoOp, 0)
	p.check(p.Err())
	return int(n)
}

// hear waits until a signal has been told n times.
func (p *player) hear(i, n int) {
	if _, err := p.Await(p.ctx, 0, p.base+signal+rma.Disp(i), rma.AtLeast(uint64(n))); err != nil {
		p.fail("waiting for signal %d to be told %d times: %w", i, n, err)
	}
}

// meet waits until all ranks have called it. It flushes nothing.
func (p *player) meet() {
	p.met++
	p.FetchOp(0, p.base+meeting, rma.Sum, 1)
	if _, err := p.Await(p.ctx, 0, p.base+meeting, rma.AtLeast(uint64(p.met*p.ranks))); err != nil {
		p.fail("waiting for the others: %w", err)
	}
}

// after is the rank whose number is n larger, modulo the number of ranks.
func (p *player) after(n int) rma.Rank { return rma.Rank((int(p.me) + n) % p.ranks) }

// share is one rank's part of about total repetitions. It is at least two.
func (p *player) share(total int) int { return max(2, total/p.ranks) }

// mode is the mode in which a rank wants the lock.
type mode uint8

const (
	write mode = iota
	read
	low // to write, with low priority
)

func (m mode) String() string {
	return [...]string{write: "writing", read: "reading", low: "writing with low priority"}[m]
}

// rw is the lock as a reader-writer lock.
func (p *player) rw() locks.RWMutex {
	rw, ok := p.lock.(locks.RWMutex)
	if !ok {
		p.fail("the lock is of kind %s, but its side %T is no RWMutex", p.subject.Spec.Kind, p.lock)
	}
	return rw
}

func (p *player) try(ctx context.Context, m mode) error {
	switch m {
	case read:
		return p.rw().AcquireRead(ctx)
	case low:
		return p.lock.(locks.PriorityMutex).AcquireLow(ctx)
	}
	return p.lock.Acquire(ctx)
}

// acquire gets the lock.
func (p *player) acquire(m mode) {
	if err := p.try(p.ctx, m); err != nil {
		p.fail("acquiring for %s: %w", m, err)
	}
}

func (p *player) release(m mode) {
	if m == read {
		p.rw().ReleaseRead()
	} else {
		p.lock.Release()
	}
}

// acquireTelling acquires the lock. It tells a signal when the rank waits for the lock.
func (p *player) acquireTelling(m mode, i int) {
	p.scout.waits = func() { p.tell(i) }
	p.acquire(m)
	if p.scout.waits != nil {
		p.fail("got the lock without waiting for its holder")
	}
}

// giveUp acquires with a context that ends when the rank waits. The rank must not get
// the lock.
func (p *player) giveUp(m mode) {
	ctx, cancel := context.WithCancel(p.ctx)
	defer cancel()
	p.scout.waits = cancel
	err := p.try(ctx, m)
	if p.scout.waits != nil {
		p.fail("acquiring for %s while another rank holds the lock returned %v without waiting", m, err)
	}
	if !errors.Is(err, context.Canceled) || errors.Is(err, locks.ErrBroken) {
		p.fail("acquiring for %s with a context that ended returned %v, want %v", m, err, context.Canceled)
	}
}

// at is word i of the data. Every rank has one.
func (p *player) at(i int) rma.Disp { return p.base + data + rma.Disp(i) }

// oneWriter is one writer in the word that counts the ranks inside. The lower half of
// the word counts readers.
const oneWriter = 1 << 32

// enter adds the rank to the ranks inside, and fails if its mode excludes one of them.
func (p *player) enter(m mode) {
	delta, forbidden := uint64(1), uint64(^uint64(oneWriter-1))
	if m != read {
		delta, forbidden = oneWriter, ^uint64(0)
	}
	was := p.FetchOp(0, p.base+words-1, rma.Sum, delta)
	p.check(p.Err())
	if was&forbidden != 0 {
		p.fail("exclusion broken: enters for %s beside %d writers and %d readers", m, was/oneWriter, was%oneWriter)
	}
}

// leave removes the rank from the ranks inside.
func (p *player) leave(m mode) {
	delta := uint64(1)
	if m != read {
		delta = oneWriter
	}
	was := p.FetchOp(0, p.base+words-1, rma.Sum, -delta)
	p.check(p.Err())
	if m != read && was != oneWriter || m == read && was >= oneWriter {
		p.fail("exclusion broken: leaves after %s, with %d writers and %d readers inside", m, was/oneWriter, was%oneWriter)
	}
}

// section is one critical section. It only checks exclusion.
func (p *player) section(m mode) {
	p.acquire(m)
	p.enter(m)
	p.leave(m)
	p.release(m)
}

// modes are the modes that the lock has.
func (p *player) modes() []mode {
	switch p.subject.Spec.Kind {
	case locks.ReaderWriter:
		return []mode{write, read}
	case locks.Priority:
		return []mode{write, low}
	}
	return []mode{write}
}

// works makes every rank acquire once in each mode. It shows that the events before
// left the lock in order.
func (p *player) works() {
	p.meet()
	for _, m := range p.modes() {
		p.section(m)
	}
	p.meet()
}

// misused does something that no correct program does. It checks that the lock panics
// with a *locks.MisuseError.
func (p *player) misused(what string, do func()) {
	defer func() {
		switch v := recover().(type) {
		case nil:
			p.fail("%s is accepted, want a panic with a *locks.MisuseError", what)
		case *locks.MisuseError:
			if v.Lock != p.subject.Spec.Name || v.Rank != p.me || v.What == "" {
				p.fail("%s panics with %+v, which does not name the lock, rank %d and the mistake", what, *v, p.me)
			}
		default:
			panic(v)
		}
	}()
	do()
}

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

// WatchAll is Watch, and calls waits each time.
func WatchAll(w rma.Window, waits func()) rma.Window {
	s, seen := watched(w)
	var each func()
	each = func() {
		s.waits = each
		waits()
	}
	s.waits = each
	return seen
}
