package lockstest

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/topology"
)

// player is a rank in a case. What it does on its own goes through its window;
// what the lock does, through a scout on it.
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

// shared is what the ranks of one process have in common, besides the window: it
// is nothing that the lock could rely on.
type shared struct {
	mu     sync.Mutex
	cancel []func() // of the contexts with which ranks acquire now
	close  func() error
}

// fail ends the rank's part in the case.
func (p *player) fail(format string, args ...any) {
	panic(failure{fmt.Errorf("rank %d: %w", p.me, fmt.Errorf(format, args...))})
}

// skip ends the case, because the lock has no such thing. All ranks skip alike.
func (p *player) skip(why string) {
	panic(failure{fmt.Errorf("%s %s: %w", p.subject.Spec.Name, why, ErrSkip)})
}

func (p *player) check(err error) {
	if err != nil {
		p.fail("%w", err)
	}
}

// equal says what a number should have been.
func (p *player) equal(got, want uint64, what string, args ...any) {
	if got != want {
		p.fail("%s is %d, want %d", fmt.Sprintf(what, args...), int64(got), int64(want))
	}
}

// Signals: words at rank 0 that count up.

func (p *player) add(i int, n uint64) uint64 {
	return p.FetchOp(0, p.base+signal+rma.Disp(i), rma.Sum, n)
}

// tell counts a signal up and returns how often it was told before.
func (p *player) tell(i int) int { return int(p.add(i, 1)) }

// told is how often a signal was told.
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

// meet waits for everybody, and flushes nothing.
func (p *player) meet() {
	p.met++
	p.FetchOp(0, p.base+meeting, rma.Sum, 1)
	if _, err := p.Await(p.ctx, 0, p.base+meeting, rma.AtLeast(uint64(p.met*p.ranks))); err != nil {
		p.fail("waiting for the others: %w", err)
	}
}

// after is the rank n places further on.
func (p *player) after(n int) rma.Rank { return rma.Rank((int(p.me) + n) % p.ranks) }

// share is how many of about total things each rank does, at least two.
func (p *player) share(total int) int { return max(2, total/p.ranks) }

// mode is how a rank wants the lock.
type mode bool

const (
	write mode = false
	read  mode = true
)

func (m mode) String() string {
	if m == read {
		return "reading"
	}
	return "writing"
}

// rw is the lock as a reader-writer lock.
func (p *player) rw() locks.RWMutex {
	rw, ok := p.lock.(locks.RWMutex)
	if !ok {
		p.fail("the lock is of kind %s, but %T is no RWMutex", p.subject.Spec.Kind, p.lock)
	}
	return rw
}

func (p *player) try(ctx context.Context, m mode) error {
	if m == read {
		return p.rw().AcquireRead(ctx)
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

// acquireTelling is acquire, and tells a signal when the rank waits for the lock.
func (p *player) acquireTelling(m mode, i int) {
	p.scout.waits = func() { p.tell(i) }
	p.acquire(m)
	if p.scout.waits != nil {
		p.fail("got the lock without waiting for who holds it")
	}
}

// giveUp acquires with a context that ends when the rank waits. It must not get
// the lock.
func (p *player) giveUp(m mode) {
	ctx, cancel := context.WithCancel(p.ctx)
	defer cancel()
	p.scout.waits = cancel
	err := p.try(ctx, m)
	if p.scout.waits != nil {
		p.fail("acquiring for %s while somebody holds the lock returned %v without waiting", m, err)
	}
	if !errors.Is(err, context.Canceled) || errors.Is(err, locks.ErrBroken) {
		p.fail("acquiring for %s with a context that ended returned %v, want %v", m, err, context.Canceled)
	}
}

// The data at every rank: who is inside counts itself.

func (p *player) at(i int) rma.Disp { return p.base + data + rma.Disp(i) }

const oneWriter = 1 << 32

// enter says that the rank holds the lock, and looks who else does.
func (p *player) enter(m mode) {
	delta, forbidden := uint64(1), uint64(^uint64(oneWriter-1))
	if m == write {
		delta, forbidden = oneWriter, ^uint64(0)
	}
	was := p.FetchOp(0, p.base+words-1, rma.Sum, delta)
	p.check(p.Err())
	if was&forbidden != 0 {
		p.fail("exclusion broken: enters for %s beside %d writers and %d readers", m, was/oneWriter, was%oneWriter)
	}
}

// leave is the end of enter.
func (p *player) leave(m mode) {
	delta := uint64(1)
	if m == write {
		delta = oneWriter
	}
	was := p.FetchOp(0, p.base+words-1, rma.Sum, -delta)
	p.check(p.Err())
	if m == write && was != oneWriter || m == read && was >= oneWriter {
		p.fail("exclusion broken: leaves after %s, with %d writers and %d readers inside", m, was/oneWriter, was%oneWriter)
	}
}

// section is one acquisition with nothing in it.
func (p *player) section(m mode) {
	p.acquire(m)
	p.enter(m)
	p.leave(m)
	p.release(m)
}

// modes are those that the lock has.
func (p *player) modes() []mode {
	if p.subject.Spec.Kind == locks.ReaderWriter {
		return []mode{write, read}
	}
	return []mode{write}
}

// works makes every rank acquire once in each mode: whatever happened before left
// nothing behind.
func (p *player) works() {
	p.meet()
	for _, m := range p.modes() {
		p.section(m)
	}
	p.meet()
}

// misused does what no correct program does and checks that it panics so.
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
