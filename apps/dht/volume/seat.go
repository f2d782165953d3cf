package volume

import (
	"context"
	"fmt"

	"github.com/orwl/go-orwl/net/rma"
)

// seat is what the Sides of all disciplines have: a rank's view of the table, and
// of the directory that says where it is.
type seat struct {
	v         *Volume
	w         rma.Window
	directory memory
	t         *Table
	base      rma.Disp
	resizes   uint64 // the number of resizes when t was looked up
}

// settle returns when the elements have a place, which the owner makes.
func (s *seat) settle(ctx context.Context) error {
	owner := s.v.o.Owner
	if s.w.Rank() == owner {
		return s.found()
	}
	base, err := s.awaitBase(ctx)
	if err != nil {
		return fmt.Errorf("volume: waiting for rank %d, its owner: %w", owner, err)
	}
	if base == refused {
		return fmt.Errorf("volume: rank %d, its owner, could not make it: %w", owner, ErrRefused)
	}
	return nil
}

// found makes the first region, at the owner, and lets the others in.
func (s *seat) found() error {
	region, err := s.w.Attach(s.v.o.Words())
	if err != nil {
		s.directory.publish(atBase, refused)
		return fmt.Errorf("volume: %d buckets and a heap of %d: %w", s.v.o.Buckets, s.v.o.Heap, err)
	}
	if err := s.fill(region.Words); err != nil {
		s.directory.publish(atBase, refused)
		return fmt.Errorf("volume: its first elements: %w", err)
	}
	s.announce(region.Base, s.v.o.Layout)
	return s.w.Err()
}

// fill puts the first elements into the owner's own memory.
func (s *seat) fill(words []uint64) error {
	if s.v.o.Fill == nil {
		return nil
	}
	t, err := Open(words, s.v.o.Layout)
	if err != nil {
		return err
	}
	return s.v.o.Fill(t)
}

// announce tells where the elements are. The caller has the lock, or no other rank has the
// volume yet. The base comes last, because it is awaited.
func (s *seat) announce(base rma.Disp, l Layout) {
	d := &s.directory
	d.atomicStore(atBuckets, uint64(l.Buckets))
	d.atomicStore(atHeap, uint64(l.Heap))
	d.atomicAdd(atResizes, 1)
	d.publish(atBase, uint64(base)+1)
}

// look reads where the elements are, while they do not move: under the lock, if
// they ever do.
func (s *seat) look() {
	d := &s.directory
	s.resizes = d.atomicLoad(atResizes)
	l := s.v.o.Layout
	l.Buckets, l.Heap = int(d.atomicLoad(atBuckets)), int(d.atomicLoad(atHeap))
	s.base = rma.Disp(d.atomicLoad(atBase) - 1)
	if s.directory.failure() != nil {
		return // nothing was read, and the window says so
	}
	m := reach(s.w, s.v.o.Owner, s.base, l.Words())
	m.fetch = s.v.o.Discipline == AtomicsOnly
	s.t = newTable(m, l)
}

// refresh looks again if the volume was resized. It is called under the lock.
func (s *seat) refresh() {
	if s.v.o.Growable && s.directory.atomicLoad(atResizes) != s.resizes {
		s.look()
	}
}

// failure is why the table cannot be trusted, if it cannot.
func (s *seat) failure() error {
	if err := s.t.failure(); err != nil {
		return fmt.Errorf("volume: %w", err)
	}
	return nil
}

// Layout implements Side.
func (s *seat) Layout() Layout { return s.t.Layout }
