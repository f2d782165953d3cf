package volume

import (
	"context"
	"fmt"
)

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
