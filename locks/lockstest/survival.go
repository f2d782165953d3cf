package lockstest

import (
	"context"
	"errors"
	"fmt"
	"math/bits"

	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/net/rma"
)

// Survival is a contest for a recoverable lock, whose ranks may crash at any step, on
// windows that survive. A section writes one number into two words of a third rank. Checks
// compare what each rank sees with plain variables:
//
//   - no living rank is inside together with a living writer;
//   - a rank that is not told of a lost holder sees the last number in both words;
//   - the next rank behind a writer that died inside is told, and each writer that is told
//     has a lost rank of its own;
//   - fences grow from writer to writer;
//   - only the end of its context ends an acquire without the lock.
//
// The simulator finds a rank that waits for ever.
type Survival struct {
	Subject Subject
	Options locks.Options
	// Acquisitions is how often each rank acquires.
	Acquisitions int
	// Reads reports whether a rank reads. If it is nil, all ranks write.
	Reads func(p rma.Rank) bool
}

// Ordeal is one run of a survival.
type Ordeal struct {
	s    Survival
	at   At
	data rma.Disp
	home rma.Rank

	writer   uint64 // the rank inside, plus one
	readers  uint64 // a bit for each rank inside
	begun    uint64 // the number that the last writer began to write
	fence    uint64 // the last writer's
	told     int    // writers that were told
	acquired []uint64
	windows  []rma.Survivor
}

// Start allocates a lock and the data that it protects.
func (s Survival) Start(f rma.Fabric) (*Ordeal, error) {
	at, err := s.Subject.New(f, s.Options)
	if err != nil {
		return nil, err
	}
	data, err := f.Alloc(2)
	if err != nil {
		return nil, err
	}
	rma.Label(f, data, 2, "data")
	ranks := f.Topology().Ranks()
	return &Ordeal{s: s, at: at, data: data, home: rma.Rank(ranks - 1), acquired: make([]uint64, ranks), windows: make([]rma.Survivor, ranks)}, nil
}

// Rank is the body of each rank.
func (o *Ordeal) Rank(ctx context.Context, w rma.Window) error {
	survivor, ok := w.(rma.Survivor)
	if !ok {
		return fmt.Errorf("the window %T is no rma.Survivor", w)
	}
	o.windows[w.Rank()] = survivor
	lock := o.at(w)
	read := o.s.Reads != nil && o.s.Reads(w.Rank())
	for range o.s.Acquisitions {
		err := o.turn(ctx, survivor, lock, read)
		if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("rank %d: %w", w.Rank(), err)
		}
	}
	return nil
}

func (o *Ordeal) turn(ctx context.Context, w rma.Survivor, lock locks.Mutex, read bool) error {
	if read {
		rw := lock.(locks.RWMutex)
		if err := rw.AcquireRead(ctx); err != nil {
			return err
		}
		if err := o.reads(w, lock.(locks.Recoverable)); err != nil {
			return err
		}
		rw.ReleaseRead()
		return nil
	}
	if err := lock.Acquire(ctx); err != nil {
		return err
	}
	if err := o.writes(w, lock.(locks.Recoverable)); err != nil {
		return err
	}
	lock.Release()
	return nil
}

// lost are the ranks that any rank knows to be lost, as bits. A rank may be told of a loss
// before its own window hears of it.
func (o *Ordeal) lost() (all uint64) {
	for _, w := range o.windows {
		for p := range o.windows {
			if w != nil && w.Epoch().Lost(rma.Rank(p)) {
				all |= 1 << p
			}
		}
	}
	return all
}

// enter checks that no living rank excludes this one.
func (o *Ordeal) enter(w rma.Survivor, told, read bool) error {
	lost := o.lost()
	o.acquired[w.Rank()]++
	if told && lost == 0 {
		return errors.New("is told of a lost holder, but no rank is lost")
	}
	if o.writer != 0 {
		switch p := rma.Rank(o.writer - 1); {
		case lost>>p&1 == 0:
			return fmt.Errorf("exclusion broken: enters beside the writer %d", p)
		case !told:
			return fmt.Errorf("rank %d died inside, and this rank is not told", p)
		}
	}
	if beside := o.readers &^ lost; !read && beside != 0 {
		return fmt.Errorf("exclusion broken: enters to write beside the reader %d", bits.TrailingZeros64(beside))
	}
	return nil
}

// sees checks what the data holds.
func (o *Ordeal) sees(w rma.Survivor, told bool) error {
	a, b := w.Get(o.home, o.data), w.Get(o.home, o.data+1)
	if !told && (a != o.begun || b != o.begun) {
		return fmt.Errorf("sees %d and %d, and is not told; the last writer wrote %d", a, b, o.begun)
	}
	return nil
}

func (o *Ordeal) reads(w rma.Survivor, lock locks.Recoverable) error {
	told := lock.Prior() != nil
	if err := o.enter(w, told, true); err != nil {
		return err
	}
	o.readers |= 1 << w.Rank()
	if err := o.sees(w, told); err != nil {
		return err
	}
	o.readers &^= 1 << w.Rank()
	return nil
}

func (o *Ordeal) writes(w rma.Survivor, lock locks.Recoverable) error {
	told := lock.Prior() != nil
	if err := o.enter(w, told, false); err != nil {
		return err
	}
	if told {
		o.told++
	}
	switch {
	case o.told > bits.OnesCount64(o.lost()):
		return fmt.Errorf("%d writers were told of a lost holder, and %d ranks are lost", o.told, bits.OnesCount64(o.lost()))
	case lock.Fence() <= o.fence:
		return fmt.Errorf("the fence is %d behind %d", lock.Fence(), o.fence)
	}
	o.fence, o.writer = lock.Fence(), uint64(w.Rank())+1
	if err := o.sees(w, told); err != nil {
		return err
	}
	o.begun++
	n := o.begun
	w.Put(o.home, o.data, n)
	w.Flush(o.home)
	w.Put(o.home, o.data+1, n)
	o.writer = 0
	return nil
}

// State is a fingerprint of what the checks remember.
func (o *Ordeal) State() uint64 {
	print := scramble(scramble(o.writer, o.readers), o.begun)
	print = scramble(scramble(print, o.fence), uint64(o.told))
	for _, n := range o.acquired {
		print = scramble(print, n)
	}
	return print
}
