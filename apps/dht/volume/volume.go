package volume

import (
	"context"
	"fmt"

	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/net/rma"
)

// Volume is a part of a distributed hash table that one rank keeps and every rank
// of the fabric uses. Of every rank's memory it takes its lock's, and a line whose first
// word says, at the owner, where the elements are.
type Volume struct {
	o    Options
	base rma.Disp    // of that word: the region's base plus one, or refused; 0 before there is one
	lock *locks.Lock // nil: the discipline has none
}

const (
	lineWords = 8
	// refused stands for the base of a region that the owner could not have.
	refused = ^uint64(0)
)

// Side is a Volume for one rank. Like the rank's window it is used by one
// goroutine at a time. Its methods do not allocate, but those that fail.
//
// Every operation is linearizable. It fails with ctx's error if ctx ends while it
// waits, and then has done nothing; and with the window's or the lock's error when the
// owner or another rank is lost: then it may or may not have been done.
type Side interface {
	// Get returns the value of a key, and whether the key is there.
	Get(ctx context.Context, key uint64) (value uint64, found bool, err error)

	// InsertNew adds an element, or fails with ErrFull. The caller knows that its key is not
	// there and that no other rank inserts it, as the paper's inserts do. It begins at the end
	// of the chain, however long that is. With a key that is there the volume breaks its promises.
	InsertNew(ctx context.Context, key, value uint64) error
}

// New allocates a volume. As every allocation, it is made by every process of the
// fabric, in the same order. The elements' memory comes when the owner calls At.
func New(f rma.Fabric, o Options) (*Volume, error) {
	if err := o.validate(f.Topology()); err != nil {
		return nil, err
	}
	v := &Volume{o: o}
	v.o.Lock.Home = o.Owner
	var err error
	if v.base, err = f.Alloc(lineWords); err != nil {
		return nil, fmt.Errorf("volume: %w", err)
	}
	rma.Label(f, v.base, lineWords, "volume.base")
	if v.o.lockless() {
		return v, nil
	}
	spec, _ := locks.ByName(v.o.Discipline)
	if v.lock, err = spec.New(f, v.o.Lock); err != nil {
		return nil, fmt.Errorf("volume: its lock: %w", err)
	}
	return v, nil
}

// At is the volume for the rank of w. The owner's call makes the elements' memory;
// the others' wait for it. A rank calls it once.
func (v *Volume) At(ctx context.Context, w rma.Window) (Side, error) {
	var base rma.Disp
	var err error
	if w.Rank() == v.o.Owner {
		base, err = v.found(w)
	} else {
		base, err = v.find(ctx, w)
	}
	if err != nil {
		return nil, fmt.Errorf("volume: %w", err)
	}
	m := reach(w, v.o.Owner, base, v.o.Words())
	m.fetch = v.o.Discipline == AtomicsOnly
	t := newTable(m, v.o.Layout)
	if v.lock == nil {
		return &lockless{t}, nil
	}
	return &locked{t, v.lock.At(w).(locks.RWMutex)}, nil
}

// found makes and fills the region, at the owner, and tells the others where it is.
func (v *Volume) found(w rma.Window) (rma.Disp, error) {
	region, err := v.filled(w)
	says := uint64(region.Base) + 1
	if err != nil {
		says = refused
	}
	w.FetchOp(v.o.Owner, v.base, rma.Replace, says)
	if err == nil {
		err = w.Err()
	}
	return region.Base, err
}

func (v *Volume) filled(w rma.Window) (rma.Region, error) {
	region, err := w.Attach(v.o.Words())
	if err != nil {
		return region, fmt.Errorf("%d buckets and a heap of %d: %w", v.o.Buckets, v.o.Heap, err)
	}
	if v.o.Fill != nil {
		if err := v.o.Fill(newTable(memory{words: region.Words}, v.o.Layout)); err != nil {
			return region, fmt.Errorf("its first elements: %w", err)
		}
	}
	return region, nil
}

// find waits for the owner to say where the elements are.
func (v *Volume) find(ctx context.Context, w rma.Window) (rma.Disp, error) {
	says, err := w.Await(ctx, v.o.Owner, v.base, rma.IsNot(0))
	switch {
	case err != nil:
		return 0, fmt.Errorf("waiting for rank %d, its owner: %w", v.o.Owner, err)
	case says == refused:
		return 0, fmt.Errorf("rank %d, its owner, could not make it: %w", v.o.Owner, errRefused)
	}
	return rma.Disp(says - 1), nil
}
