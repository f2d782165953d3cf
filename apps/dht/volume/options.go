package volume

import (
	"errors"
	"fmt"
	"math/bits"
	"strings"

	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/topology"
)

// The disciplines that have no lock. Every other one is the name of a lock.
const (
	// AtomicsOnly is the paper's foMPI-A: whatever others may write is read by
	// FetchOp, and changed by CAS and FetchOp.
	AtomicsOnly = "foMPI-A"
	// AtomicsAndGets is the same, but reads by Get, which the windows of this
	// module make as atomic as FetchOp, and cheaper.
	AtomicsAndGets = "foMPI-A-Get"
)

// Disciplines are the names of all: how ranks can be kept from disturbing each
// other.
func Disciplines() []string {
	names := []string{AtomicsOnly, AtomicsAndGets}
	for _, spec := range locks.All() {
		if spec.Kind == locks.ReaderWriter {
			names = append(names, spec.Name)
		}
	}
	return names
}

// Options describe a Volume. Every process gives the same.
type Options struct {
	Layout

	// Owner is the rank that keeps it, and the home of its lock.
	Owner rma.Rank

	// Discipline is how ranks are kept from disturbing each other: one of
	// Disciplines.
	Discipline string

	// Lock are the lock's options. New sets Home to Owner.
	Lock locks.Options

	// Fill, if not nil, puts the first elements into the table, in the owner's At, before other
	// ranks have it: at the speed of memory.
	Fill func(t *Table) error
}

func (o *Options) lockless() bool {
	return o.Discipline == AtomicsOnly || o.Discipline == AtomicsAndGets
}

// validate names the field that is out of range.
func (o *Options) validate(t *topology.Tree) error {
	if o.Owner < 0 || int(o.Owner) >= t.Ranks() {
		return fmt.Errorf("volume: Owner is %d, want a rank, 0..%d", o.Owner, t.Ranks()-1)
	}
	if err := o.Layout.validate(); err != nil {
		return err
	}
	if spec, ok := locks.ByName(o.Discipline); !o.lockless() && (!ok || spec.Kind != locks.ReaderWriter) {
		return fmt.Errorf("volume: Discipline is %q, want one of %s", o.Discipline, strings.Join(Disciplines(), ", "))
	}
	return nil
}

var (
	// ErrFull is the error of an element whose bucket is taken while the heap has no
	// cell left. Nothing has changed.
	ErrFull = errors.New("volume: full: the element's bucket is taken and all cells of the heap are in use")

	errRefused = errors.New("the owner's own error says why")
)

// Layout says how large a volume is.
//
//	 header        last          table                     overflow heap
//	┌─────────────┬─────────────┬─────────────────────────┬─────────────────────────┐
//	│ next free   │ of each     │ cell 0 .. Buckets-1     │ cell Buckets ..         │
//	│             │ bucket: its │ the first element of    │ Buckets+Heap-1          │
//	│             │ last cell   │ each bucket             │                         │
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
}

const (
	atNextFree  = 0 // the header's word: how many cells of the heap were ever asked for
	headerWords = 8 // a cache line

	cellWords = 4
	cellBytes = 8 * cellWords

	// MaxCells bounds Buckets and Heap together, so that the volume fits into a region.
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

// bucket spreads mixed keys evenly over any number of buckets, without a division.
func (l *Layout) bucket(key uint64) int {
	high, _ := bits.Mul64(Mix(key), uint64(l.Buckets))
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
