package lockers

import (
	"context"
	"sync/atomic"

	"github.com/orwl/go-orwl/internal/tally"
	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/net/rma"
)

// seat is a rank that goroutines use in turn: one goroutine for itself, or a group of
// readers together (seat_readers.go). The lock of the table orders the ranks; a seat
// orders its goroutines.
//
//	      ──take──▶
//	free            held
//	      ◀─leave──
//
// A goroutine that cannot take the seat waits in a queue, in FIFO order. The one that
// leaves calls the first of the queue: it wakes it. Until that one runs, a goroutine that
// runs already may take the seat before it, because a seat that waits for a sleeper is of
// no use.
//
//	queue ─call─▶ called ───────── seat is free ──────────▶ has the seat
//	                 │                                          ▲
//	                 ├─ seat is held: it is owed ─ next leave ──┤
//	                 └─ overtaken mostTurns times: given ───────┘
//
//	called  owed  given
//	no      no    no     no goroutine has been called
//	yes     no    no     it is about to run; others may take the seat
//	yes     yes   no     it found the seat held, and sleeps; the next leave hands over
//	yes     no    yes    the seat is held for it
//
// At most one goroutine is called at a time.
//
// Fairness: a waiting goroutine is overtaken at its seat by at most mostTurns + 2
// acquisitions for itself, and as many for each goroutine before it in the queue.
//
// No wake-up is lost: a goroutine counts itself in waiting before it looks at the state,
// and the one that leaves changes the state before it looks at waiting. So one of them
// sees the other, and calls.
type seat struct {
	state atomic.Uint64
	mutex locks.Mutex
	rw    locks.RWMutex // nil if the lock has no readers
	bias  *bias         // nil if the seat never keeps the lock

	of     *locks.Lock
	w      rma.Window
	failed *atomic.Bool // the window's; always true if only the window knows

	waiting atomic.Int32  // goroutines in the queue, without the called one
	queue   chan struct{} // a token calls the first
	debt    chan struct{} // a token hands over to the owed one

	// Written by the goroutine that holds the seat.
	waits, joins tally.Count
	patience     int // acquisitions until the seat may keep the lock

	_ [line]byte // neighbours in memory must not share a line
}

// line is the length of a cache line in bytes.
const line = 64

// The state of a seat:
//
//	63 ... 34   33       32      31      30 ... 21   20 ... 11   10 ... 4   3       2      1        0
//	groups    │ writes │ reads │ keeps │ joined    │ readers   │ turns    │ given │ owed │ called │ held
//
// held says that a goroutine has the seat for itself. turns counts how often the called
// goroutine was overtaken. For the others see seat_readers.go and seat_keep.go.
const (
	seatHeld = 1 << iota
	seatCalled
	seatOwed
	seatGiven
	oneTurn
)

const (
	turnBits  = 7
	turnsMask = (1<<turnBits - 1) * oneTurn
	calling   = seatCalled | seatOwed | seatGiven | turnsMask

	mostTurns = 64
)

func (s *seat) init(l *locks.Lock, w rma.Window, b *bias) {
	s.of, s.w, s.mutex, s.bias = l, w, l.At(w), b
	s.rw, _ = s.mutex.(locks.RWMutex)
	s.failed = failed(w)
	s.queue, s.debt = make(chan struct{}, 1), make(chan struct{}, 1)
}

// failed says whether w has failed, as far as that can be known without asking w: always
// true where only w knows.
func failed(w rma.Window) *atomic.Bool {
	if shared, ok := w.(rma.Shared); ok {
		return shared.Failed()
	}
	ask := new(atomic.Bool)
	ask.Store(true)
	return ask
}

// take takes the seat if it is free, and reports whether it did, and what the state was.
func (s *seat) take() (v uint64, ok bool) {
	v = s.state.Load()
	return v, v&(seatHeld|readersMask) == 0 && s.state.CompareAndSwap(v, v|seatHeld)
}

// leave ends holding the seat. It hands the seat to the goroutine that is owed it, or calls
// the next one.
func (s *seat) leave() {
	v := s.state.Load()
	left := s.waiting.Load() == 0 && v&seatCalled == 0 && s.state.CompareAndSwap(v, v&^seatHeld)
	if !left || s.waiting.Load() != 0 {
		s.leaveTo(left)
	}
}

// leaveTo is the rest of leave where goroutines wait. left says that the seat is free.
func (s *seat) leaveTo(left bool) {
	for !left {
		left = s.leaveFrom(s.state.Load())
	}
	s.call() // for one that has come meanwhile
}

// leaveFrom is leave if the state is v, and reports whether it is.
func (s *seat) leaveFrom(v uint64) bool {
	next, calls := v&^seatHeld, false
	switch {
	case v&seatOwed != 0:
		next = v &^ calling
	case v&seatCalled == 0:
		if calls = s.waiting.Load() != 0; calls {
			next |= seatCalled
		}
	case v&turnsMask == mostTurns*oneTurn:
		next = v | seatGiven
	default:
		next += oneTurn
	}
	if !s.state.CompareAndSwap(v, next) {
		return false
	}
	if v&seatOwed != 0 {
		s.debt <- struct{}{}
	} else if calls {
		s.summon()
	}
	return true
}

// call calls the first goroutine of the queue, if there is one, none is called, and it has
// something to come for: a free seat, or readers.
func (s *seat) call() {
	for s.waiting.Load() != 0 {
		v := s.state.Load()
		if v&seatCalled != 0 || v&(seatHeld|readersMask) != 0 && !open(v) {
			return
		}
		if s.state.CompareAndSwap(v, v|seatCalled) {
			s.summon()
			return
		}
	}
}

// summon wakes the goroutine that has been called, unless none waits any more.
func (s *seat) summon() {
	if s.lessOne() {
		s.queue <- struct{}{}
	} else {
		s.uncall()
	}
}

// uncall is for a called goroutine that does not come, or a call that none heard.
func (s *seat) uncall() {
	for {
		v := s.state.Load()
		if s.state.CompareAndSwap(v, v&^calling) {
			if v&seatGiven != 0 {
				s.leaveKept()
			} else {
				s.call()
			}
			return
		}
	}
}

// lessOne takes a goroutine out of those that wait, if there is one.
func (s *seat) lessOne() bool {
	for {
		n := s.waiting.Load()
		if n == 0 || s.waiting.CompareAndSwap(n, n-1) {
			return n != 0
		}
	}
}

// wait waits for the seat, or, if the goroutine reads, for readers that it may join: then
// it has joined them. It returns what the state was when the goroutine got the seat, and
// fails with ctx's error.
func (s *seat) wait(ctx context.Context, reads bool) (v uint64, joins bool, err error) {
	s.waiting.Add(1)
	s.call() // the goroutine that held the seat may have left before it could see this one
	if !received(ctx, s.queue) {
		if !s.lessOne() {
			<-s.queue // it has been called
			s.uncall()
		}
		return 0, false, ctx.Err()
	}
	return s.come(ctx, reads)
}

// come is the rest of wait for the goroutine that has been called.
func (s *seat) come(ctx context.Context, reads bool) (v uint64, joins bool, err error) {
	for {
		v = s.state.Load()
		switch {
		case reads && open(v):
			if s.state.CompareAndSwap(v, joined(v)&^calling) {
				s.call()
				return v, true, nil
			}
		case v&(seatHeld|readersMask) == 0 || v&seatGiven != 0:
			if s.state.CompareAndSwap(v, v&^calling|seatHeld) {
				s.waits.Inc()
				return v, false, nil
			}
		case s.state.CompareAndSwap(v, v|seatOwed):
			v, err = s.collect(ctx)
			return v, false, err
		}
	}
}

// collect waits for the seat that the goroutine is owed.
func (s *seat) collect(ctx context.Context) (v uint64, err error) {
	if received(ctx, s.debt) {
		s.waits.Inc()
		return s.state.Load(), nil
	}
	for {
		v = s.state.Load()
		if v&seatOwed == 0 {
			<-s.debt // it comes too late to go without the seat
			s.leaveKept()
			return 0, ctx.Err()
		}
		if s.state.CompareAndSwap(v, v&^calling) {
			s.call()
			return 0, ctx.Err()
		}
	}
}

// received waits for a token and reports whether it came before ctx ended.
func received(ctx context.Context, tokens chan struct{}) bool {
	if ctx.Done() == nil {
		<-tokens
		return true
	}
	select {
	case <-tokens:
		return true
	case <-ctx.Done():
		return false
	}
}
