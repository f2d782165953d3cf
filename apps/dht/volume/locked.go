package volume

import (
	"context"
	"fmt"

	"github.com/orwl/go-orwl/locks"
)

// locked is a Side under a reader-writer lock: plain operations on the table,
// between an acquire and a release.
//
// Cost, where all is done by operations, beside the lock's: 1 read of each cell on
// the way to the key or to its absence; 1 put to change a value; 3 puts to add an
// element, and 1 read and 2 puts more if it goes to the heap; 4 or 5 puts and 1 or 2
// reads to delete one from the heap, or whose place one from the heap takes. Changes
// are flushed once. InsertNew reads 1 word instead of the chain. And 1 read more of
// everything if the volume is Growable.
type locked struct {
	seat
	lock locks.RWMutex
}

// read and write begin a section.
func (s *locked) read(ctx context.Context) error {
	if err := s.lock.AcquireRead(ctx); err != nil {
		return fmt.Errorf("volume: %w", err)
	}
	if s.told() {
		if err := s.readWhole(ctx); err != nil {
			return err
		}
	}
	s.refresh()
	return nil
}

func (s *locked) write(ctx context.Context) error {
	if err := s.lock.Acquire(ctx); err != nil {
		return fmt.Errorf("volume: %w", err)
	}
	s.refresh()
	if s.told() {
		s.t.recover()
	}
	return nil
}

// hasRead and written end one. Whether the window has failed in it is asked first,
// because then it tells nothing.
func (s *locked) hasRead() error {
	err := s.failure()
	s.lock.ReleaseRead()
	return err
}

func (s *locked) written(err error) error {
	if failure := s.failure(); failure != nil {
		err = failure
	}
	s.lock.Release()
	return err
}

func (s *locked) Get(ctx context.Context, key uint64) (value uint64, found bool, err error) {
	if err := s.read(ctx); err != nil {
		return 0, false, err
	}
	value, found = s.t.Get(key)
	err = s.hasRead()
	return value, found && err == nil, err
}

func (s *locked) Insert(ctx context.Context, key, value uint64) (inserted bool, err error) {
	if err := s.write(ctx); err != nil {
		return false, err
	}
	inserted, err = s.t.Insert(key, value)
	err = s.written(err)
	return inserted && err == nil, err
}

func (s *locked) InsertNew(ctx context.Context, key, value uint64) error {
	if err := s.write(ctx); err != nil {
		return err
	}
	return s.written(s.t.InsertNew(key, value))
}

func (s *locked) Set(ctx context.Context, key, value uint64) (found bool, err error) {
	if err := s.write(ctx); err != nil {
		return false, err
	}
	found, err = s.t.Set(key, value)
	err = s.written(err)
	return found && err == nil, err
}

func (s *locked) Delete(ctx context.Context, key uint64) (found bool, err error) {
	if err := s.write(ctx); err != nil {
		return false, err
	}
	found = s.t.Delete(key)
	err = s.written(nil)
	return found && err == nil, err
}

func (s *locked) Add(ctx context.Context, key, delta uint64) (sum uint64, err error) {
	if err := s.write(ctx); err != nil {
		return 0, err
	}
	sum, err = s.t.Add(key, delta)
	if err = s.written(err); err != nil {
		return 0, err
	}
	return sum, nil
}

func (s *locked) CompareAndSet(ctx context.Context, key, old, new uint64) (swapped, found bool, err error) {
	if err := s.write(ctx); err != nil {
		return false, false, err
	}
	swapped, found = s.t.CompareAndSet(key, old, new)
	err = s.written(nil)
	return swapped && err == nil, found && err == nil, err
}

func (s *locked) Do(ctx context.Context, ops []Op) error {
	if reads(ops) {
		if err := s.read(ctx); err != nil {
			return err
		}
		s.t.do(ops)
		return s.hasRead()
	}
	if err := s.write(ctx); err != nil {
		return err
	}
	s.t.do(ops)
	return s.written(nil)
}

// do executes a batch.
func (t *Table) do(ops []Op) {
	for i := range ops {
		o := &ops[i]
		o.Found, o.Swapped, o.Err = false, false, nil
		switch o.Kind {
		case Get:
			o.Value, o.Found = t.Get(o.Key)
		case Insert:
			var inserted bool
			inserted, o.Err = t.Insert(o.Key, o.Value)
			o.Found = !inserted && o.Err == nil
		case Set:
			o.Found, o.Err = t.Set(o.Key, o.Value)
		case Delete:
			o.Found = t.Delete(o.Key)
		case Add:
			o.Value, o.Found, o.Err = t.sum(o.Key, o.Value)
		case CompareAndSet:
			o.Swapped, o.Found = t.CompareAndSet(o.Key, o.Old, o.Value)
		default:
			panic(unknown(o.Kind))
		}
	}
}

func (s *locked) Len(ctx context.Context) (int, error) {
	if err := s.read(ctx); err != nil {
		return 0, err
	}
	n := s.t.Len()
	return n, s.hasRead()
}

func (s *locked) Each(ctx context.Context, yield func(key, value uint64) bool) error {
	if err := s.read(ctx); err != nil {
		return err
	}
	defer s.lock.ReleaseRead() // whatever yield does
	s.t.All()(yield)
	return s.failure()
}

func (s *locked) Snapshot(ctx context.Context) ([]Element, error) {
	if err := s.read(ctx); err != nil {
		return nil, err
	}
	all := make([]Element, 0, s.t.Len())
	for key, value := range s.t.All() {
		all = append(all, Element{key, value})
	}
	if err := s.hasRead(); err != nil {
		return nil, err
	}
	return all, nil
}

func (s *locked) Clear(ctx context.Context) error {
	if err := s.write(ctx); err != nil {
		return err
	}
	s.t.Clear()
	return s.written(nil)
}

func (s *locked) Resize(ctx context.Context, buckets, heap int) error {
	l := s.v.o.Layout
	l.Buckets, l.Heap = buckets, heap
	switch {
	case !s.v.o.Growable:
		return fmt.Errorf("volume: resize: %w", ErrFixed)
	case s.w.Rank() != s.v.o.Owner:
		return fmt.Errorf("volume: resize by rank %d, want %d: %w", s.w.Rank(), s.v.o.Owner, ErrNotOwner)
	}
	if err := l.validate(); err != nil {
		return err
	}
	if err := s.write(ctx); err != nil {
		return err
	}
	return s.written(s.move(l))
}

// move is under the lock, so that the old region has no users when it goes.
func (s *locked) move(l Layout) error {
	region, err := s.w.Attach(l.Words())
	if err != nil {
		return fmt.Errorf("volume: resize to %d buckets and a heap of %d: %w", l.Buckets, l.Heap, err)
	}
	larger := newTable(reach(s.w, s.v.o.Owner, region.Base, l.Words()), l)
	if err = s.t.MoveTo(larger); err == nil {
		err = s.t.failure()
	}
	if err != nil {
		_ = s.w.Detach(region.Base) // it was attached a moment ago
		return fmt.Errorf("volume: resize: %w", err)
	}
	before := s.base
	s.announce(region.Base, l)
	s.look()
	return s.w.Detach(before)
}
