package volume

import (
	"errors"
	"fmt"
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

// DefaultDiscipline is what a volume has that names none.
const DefaultDiscipline = "RMA-RW"

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
	// Layout is its size at first.
	Layout

	// Owner is the rank that keeps it, and the home of its lock.
	Owner rma.Rank

	// Discipline is how ranks are kept from disturbing each other: one of
	// Disciplines, DefaultDiscipline if empty.
	Discipline string

	// Lock are the lock's options. Home is Owner's.
	Lock locks.Options

	// Fill, if not nil, puts the first elements into the table, in the owner's At, before other
	// ranks have it: at the speed of memory.
	Fill func(t *Table) error

	// Growable lets the owner resize the volume. Then every access looks at a word
	// of the owner's that counts resizes, which costs a Get where memory is not
	// shared.
	Growable bool
}

func (o Options) withDefaults() Options {
	if o.Discipline == "" {
		o.Discipline = DefaultDiscipline
	}
	o.Lock.Home = o.Owner
	return o
}

func (o Options) lockless() bool {
	return o.Discipline == AtomicsOnly || o.Discipline == AtomicsAndGets
}

// validate names the field that is out of range. It is asked before withDefaults.
func (o Options) validate(t *topology.Tree) error {
	switch {
	case o.Owner < 0 || int(o.Owner) >= t.Ranks():
		return fmt.Errorf("volume: Owner is %d, want a rank, 0..%d", o.Owner, t.Ranks()-1)
	case o.Lock.Home != 0 && o.Lock.Home != o.Owner:
		return fmt.Errorf("volume: Lock.Home is %d, want Owner's %d, or 0", o.Lock.Home, o.Owner)
	}
	if err := o.Layout.validate(); err != nil {
		return err
	}
	full := o.withDefaults()
	if full.lockless() {
		if o.Growable {
			return fmt.Errorf("volume: Growable is true: %w", ErrNoLock)
		}
		return nil
	}
	if spec, ok := locks.ByName(full.Discipline); !ok || spec.Kind != locks.ReaderWriter {
		return fmt.Errorf("volume: Discipline is %q, want one of %s", o.Discipline, strings.Join(Disciplines(), ", "))
	}
	if spec, _ := locks.ByName(full.Discipline); o.Growable && spec.Recoverable {
		return fmt.Errorf("volume: Growable is true with %s: a rank that dies in a Resize would leave two halves", full.Discipline)
	}
	return nil
}

// The sentinels of this package's errors.
var (
	// ErrFull is matched by every *FullError.
	ErrFull = errors.New("volume: full")
	// ErrRefused is matched by the error of At on other ranks if the owner's At has
	// failed.
	ErrRefused = errors.New("the owner's own error says why")
	// ErrNoLock is the error of operations that need a lock, on a volume that has
	// none.
	ErrNoLock = errors.New("the discipline " + AtomicsOnly + " has no lock: choose a reader-writer lock")
	// ErrNotOwner is matched by the error of a Resize by another rank.
	ErrNotOwner = errors.New("only the owner's rank can resize a volume")
	// ErrFixed is matched by the error of a Resize of a volume that was not made
	// to grow.
	ErrFixed = errors.New("the volume was made with a fixed size: set Options.Growable")
)

// FullError is the error of an element whose bucket is taken while the heap has
// no cell left. Nothing has changed.
type FullError struct {
	Key           uint64
	Buckets, Heap int
}

func (e *FullError) Error() string {
	return fmt.Sprintf("volume: no room for key %d: its bucket of %d is taken and all %d cells of the heap are in use: delete elements, or resize the volume",
		e.Key, e.Buckets, e.Heap)
}

// Is matches ErrFull.
func (e *FullError) Is(target error) bool { return target == ErrFull }
