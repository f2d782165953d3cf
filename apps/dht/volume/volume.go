package volume

import (
	"context"
	"fmt"
	"math/bits"

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

// Layout says how large a volume is.
//
//	 header        last          table                     overflow heap
//	┌─────────────┬─────────────┬─────────────────────────┬─────────────────────────┐
//	│ next free   │ of each     │ cell 0 .. Buckets-1     │ cell Buckets ..         │
//	│ free list   │ bucket: its │ the first element of    │ Buckets+Heap-1          │
//	│ elements    │ last cell   │ each bucket             │                         │
//	└─────────────┴─────────────┴─────────────────────────┴─────────────────────────┘
//
// A cell is four words, so that two share a cache line and none lies across two:
//
//	┌───────┬─────┬───────┬──────┐
//	│ state │ key │ value │ next │   next: the number of a cell of the heap, 0 at the end
//	└───────┴─────┴───────┴──────┘
//
// All of it is zero when it is empty.
type Layout struct {
	// Buckets is the number of elements that the table has room for, one of each
	// bucket.
	Buckets int
	// Heap is the number of cells for elements whose bucket is taken.
	Heap int
	// Hash mixes a key before it chooses the bucket; Mix if nil. All ranks of a
	// volume give the same one.
	Hash func(key uint64) uint64
}

// The words of the header.
const (
	atNextFree  = iota // how many cells of the heap were ever asked for
	atFree             // the free list's first cell, and a tag above it
	atElements         // how many there are
	headerWords = 8    // a cache line
)

const (
	cellWords = 4
	cellBytes = 8 * cellWords

	// MaxCells bounds Buckets and Heap together, so that a cell's number fits
	// into half a word and the volume into a region.
	MaxCells = 1 << 29
)

// Words is the memory that a volume of the layout takes.
func (l Layout) Words() int { return l.cells() + cellWords*(l.Buckets+l.Heap) }

// cells is where cell 0 begins.
func (l Layout) cells() int { return (headerWords + l.Buckets + cellWords - 1) / cellWords * cellWords }

func (l Layout) validate() error {
	switch {
	case l.Buckets < 1 || l.Buckets > MaxCells:
		return fmt.Errorf("volume: Buckets is %d, want 1 to %d", l.Buckets, MaxCells)
	case l.Heap < 0 || l.Heap > MaxCells-l.Buckets:
		return fmt.Errorf("volume: Heap is %d, want 0 to %d with %d buckets", l.Heap, MaxCells-l.Buckets, l.Buckets)
	}
	return nil
}

// bucket spreads hashed keys evenly over any number of buckets, without a
// division.
func (l *Layout) bucket(key uint64) int {
	var hash uint64
	if l.Hash == nil { // an ordinary call, which is inlined
		hash = Mix(key)
	} else {
		hash = l.Hash(key)
	}
	high, _ := bits.Mul64(hash, uint64(l.Buckets))
	return int(high)
}

// Mix is a bijection of the words in which every bit of the key moves every bit
// of the result (the finaliser of SplitMix64): neighbouring keys get buckets far
// from each other.
func Mix(key uint64) uint64 {
	key ^= key >> 30
	key *= 0xbf58476d1ce4e5b9
	key ^= key >> 27
	key *= 0x94d049bb133111eb
	return key ^ key>>31
}
