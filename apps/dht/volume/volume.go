package volume

import (
	"context"
	"fmt"

	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/net/rma"
)

// Volume is a part of a distributed hash table that one rank keeps and every rank
// of the fabric uses. The memory that it takes of every rank is its lock's and a
// line that says, at the owner, where the elements are:
//
//	┌──────┬─────────┬─────────┬──────┐
//	│ base │ resizes │ buckets │ heap │   base: of the owner's region, plus one; 0 before there is one
//	└──────┴─────────┴─────────┴──────┘
type Volume struct {
	o         Options
	directory rma.Disp
	lock      *locks.Lock // nil: the discipline has none
}

// The words of the directory.
const (
	atBase = iota
	atResizes
	atBuckets
	atHeap
	directoryWords = 8
)

// refused stands for the base of a region that the owner could not have.
const refused = ^uint64(0)

// New allocates a volume. As every allocation, it is made by every process of the
// fabric, in the same order. The elements' memory comes when the owner calls At.
func New(f rma.Fabric, o Options) (*Volume, error) {
	if err := o.validate(f.Topology()); err != nil {
		return nil, err
	}
	v := &Volume{o: o.withDefaults()}
	var err error
	if v.directory, err = f.Alloc(directoryWords); err != nil {
		return nil, fmt.Errorf("volume: %w", err)
	}
	rma.Label(f, v.directory, directoryWords, "volume.directory")
	if v.o.lockless() {
		return v, nil
	}
	spec, _ := locks.ByName(v.o.Discipline)
	if v.lock, err = spec.New(f, v.o.Lock); err != nil {
		return nil, fmt.Errorf("volume: its lock: %w", err)
	}
	return v, nil
}

// Discipline is how ranks are kept from disturbing each other.
func (v *Volume) Discipline() string { return v.o.Discipline }

// At is the volume for the rank of w. The owner's call makes the elements' memory;
// the others' wait for it. A rank calls it once.
func (v *Volume) At(ctx context.Context, w rma.Window) (Side, error) {
	s := seat{v: v, w: w, directory: reach(w, v.o.Owner, v.directory, directoryWords)}
	if err := s.settle(ctx); err != nil {
		return nil, err
	}
	if err := v.lookAt(ctx, &s); err != nil {
		return nil, fmt.Errorf("volume: %w", err)
	}
	if v.lock == nil {
		return &lockless{s}, nil
	}
	return &locked{s, v.lock.At(w).(locks.RWMutex)}, nil
}

// lookAt is a rank's first look at the elements, which may move if there is a lock.
func (v *Volume) lookAt(ctx context.Context, s *seat) error {
	if !v.o.Growable {
		s.look()
		return s.w.Err()
	}
	lock := v.lock.At(s.w).(locks.RWMutex)
	if err := lock.AcquireRead(ctx); err != nil {
		return err
	}
	s.look()
	lock.ReleaseRead()
	return s.w.Err()
}
