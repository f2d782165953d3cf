package locks

import (
	"context"
	"math"
	"sync/atomic"
	"unsafe"

	"github.com/orwl/go-orwl/internal/invariant"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/topology"
)

// seat is what one rank's side of any lock consists of, besides its algorithm.
type seat struct {
	memory
	o      *Options // all ranks': with many ranks the processor's cache is short of room
	tree   *topology.Tree
	rank   Rank
	number uint64 // of the lock in its set, from 1
	turn   turn
	idle   turn   // the mode of a rank that has let go: free or ready
	counts Counts // all but Acquired
	asks   turn   // the first turn before which the rank calls Returns
	asked  turn   // the turn before which it did so last
	lone   lone
	// background is what is known of context.Background() by kindOf.
	background uintptr
}

// turn is the mode in which a rank holds a lock, and how often it has had it: one word,
// since every turn changes both.
type turn uint64

const (
	free  turn = iota
	ready      // free, and the rank may go alone, or read, at once
	alone      // writing, and the rank went alone, past any queue
	writing
	reading
)

const (
	oneTurn turn = 8              // a turn more, in the same mode
	never   turn = math.MaxUint64 // a turn that nobody gets to
)

func (t turn) mode() turn    { return t % oneTurn }
func (t turn) count() uint64 { return uint64(t / oneTurn) }

func (l *Lock) seat(w rma.Window) seat {
	background := context.Background()
	return seat{
		memory: l.newMemory(w), background: kindOf(&background), asks: never,
		o: &l.o, tree: l.tree, rank: w.Rank(), number: l.number,
	}
}

// setTurn changes what others look at, as count does.
func (s *seat) setTurn(t turn) {
	if invariant.Enabled {
		atomic.StoreUint64((*uint64)(&s.turn), uint64(t))
	} else {
		s.turn = t
	}
}

// become changes the mode.
func (s *seat) become(mode turn) { s.setTurn(s.turn - s.turn.mode() + mode) }

// Counts implements Counter.
func (s *seat) Counts() Counts {
	c := s.counts
	c.Acquired = s.turn.count()
	return c
}

// count adds one to what only the rank counts, and others look at. An ordinary
// addition does, but where the race detector looks.
func count(n *uint64) {
	if invariant.Enabled {
		atomic.AddUint64(n, 1)
	} else {
		*n++
	}
}

// recount makes the counts those of before an acquire that came to nothing.
func (s *seat) recount(before Counts) {
	if !invariant.Enabled {
		before.Broken = s.counts.Broken
		s.counts = before
		return
	}
	atomic.StoreUint64(&s.counts.Waited, before.Waited)
	atomic.StoreUint64(&s.counts.Upper, before.Upper)
	atomic.StoreUint64(&s.counts.UpperWaited, before.UpperWaited)
}

// look is the counts as others see them.
func (s *seat) look() Counts {
	return Counts{
		turn(atomic.LoadUint64((*uint64)(&s.turn))).count(), atomic.LoadUint64(&s.counts.Waited),
		atomic.LoadUint64(&s.counts.Upper), atomic.LoadUint64(&s.counts.UpperWaited),
		atomic.LoadUint64(&s.counts.Passed), atomic.LoadUint64(&s.counts.Broken),
	}
}

// ready reports whether begin would have nothing to say. Whoever asks first calls no
// function, of which each counts: an acquire that meets nobody takes no longer than three.
func (s *seat) ready(ctx context.Context) bool {
	return s.turn.mode() <= ready && s.endless(&ctx) && !s.failed.Load()
}

// endless reports whether *ctx is context.Background(): that is the only one of its type.
func (s *seat) endless(ctx *context.Context) bool { return kindOf(ctx) == s.background }

// kindOf is the first word of an interface, which stands for its type.
func kindOf(ctx *context.Context) uintptr { return *(*uintptr)(unsafe.Pointer(ctx)) }

// arrive is the beginning of an acquire that may wait.
func (s *seat) arrive(ctx context.Context) error {
	if err := s.begin(ctx); err != nil {
		return err
	}
	if s.due() {
		s.letBe()
	}
	return nil
}

// gaveWay is for who has handed the lock over.
func (s *seat) gaveWay() {
	if s.beside != nil {
		s.asks = 0
		s.beside.HandedOver()
	}
}

// due reports whether the rank calls Returns before it comes.
func (s *seat) due() bool { return s.turn >= s.asks }

func (s *seat) letBe() {
	now := s.turn - s.turn.mode()
	turns := (now - s.asked).count()
	s.asked, s.asks = now, never
	if again := s.beside.Returns(int(turns)); again > 0 {
		s.asks = now + turn(again)*oneTurn
	}
}

// begin is the beginning of every acquire: nothing has been done yet that would
// have to be undone.
func (s *seat) begin(ctx context.Context) error {
	if s.turn.mode() > ready {
		s.misuse("acquires a lock that it holds: release it first")
	}
	if s.failed.Load() {
		if err := s.intact(); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// acquired is the end of every acquire that succeeded.
func (s *seat) acquired(mode turn) { s.setTurn(s.turn - s.turn.mode() + oneTurn + mode) }

// decided is asked where an answer of zero would mean that the rank has the
// lock: an operation of a window that has failed answers zero, too, and where the
// memory itself was asked, nobody is let in any more.
func (s *seat) decided() error {
	if !s.failed.Load() {
		return nil
	}
	return s.intact()
}

// intact returns an error if the window has failed.
func (s *seat) intact() error {
	if err := s.w.Err(); err != nil {
		return s.broken(err)
	}
	return nil
}

// fail is the error of an await: the context's as it is, the window's as a
// broken lock's.
func (s *seat) fail(err error) error {
	if s.w.Err() != nil {
		return s.broken(s.w.Err())
	}
	return err
}

func (s *seat) broken(cause error) error {
	count(&s.counts.Broken)
	return &BrokenError{Lock: s.o.Name, Rank: s.rank, Cause: cause}
}

// end is the beginning of every release: what the rank did under the lock is
// complete before anybody hears of it.
func (s *seat) end(mode turn) {
	if s.turn.mode() != mode || !s.together {
		s.endFar(mode)
	}
	s.become(s.idle)
}

// endFar is end for a rank that holds the lock otherwise, or not in memory that all
// share.
func (s *seat) endFar(mode turn) {
	if s.turn.mode() != mode {
		s.misuse("releases a lock that it does not hold so")
	}
	s.w.FlushAll()
}

// disown and adopt are Oblivious, for the locks that have it.
func (s *seat) disown() {
	if mode := s.turn.mode(); mode != writing && mode != alone {
		s.misuse("disowns a lock that it does not hold")
	}
	s.become(free)
}

func (s *seat) adopt() {
	if s.turn.mode() > ready {
		s.misuse("adopts a lock that it holds")
	}
	s.become(writing)
}

//go:noinline
func (s *seat) misuse(what string) {
	panic(&MisuseError{Lock: s.o.Name, Rank: s.rank, What: what})
}
