package shm

import (
	"context"
	"errors"
	"fmt"

	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/topology"
)

const (
	// DefaultWords is the size of a rank's symmetric memory, and DefaultDynamicWords
	// the size of its pool for Attach, unless Options say otherwise. Untouched memory
	// costs nothing.
	DefaultWords        = 1 << 16
	DefaultDynamicWords = 1 << 24

	mostWords = 1 << 32
	mostRanks = 1 << 16
)

// Options describe a fabric.
type Options struct {
	// Topology has the ranks as its leaves. Required, and the same in every
	// process.
	Topology *topology.Tree
	// Words is the size of each rank's symmetric memory; if zero, DefaultWords
	// for Create and what the fabric has for Open.
	Words int
	// DynamicWords is the size of the pool from which each rank attaches; if
	// zero, DefaultDynamicWords for Create and what the fabric has for Open.
	DynamicWords int
	// Here reports whether a rank runs on this machine. A rank that runs elsewhere does not
	// count as a competitor for processors, and no loss is named after it. One of the
	// processes acts for it by its window. If nil, all ranks run here.
	Here func(p rma.Rank) bool
	// Survive makes windows that go on after a process is lost (rma.Survivor). Give it in
	// every process. Otherwise all windows fail.
	Survive bool
	// Lost, if not nil, is told that a process is lost, once for each process, before this process's windows
	// fail by it or end their epochs. It must not close the fabric.
	Lost func(err error)
	// Context ends the fabric for this process when it is done: its error becomes the
	// failure of this process's windows. If nil, nothing does.
	Context context.Context
}

func (o Options) withDefaults() Options {
	if o.Words == 0 {
		o.Words = DefaultWords
	}
	if o.DynamicWords == 0 {
		o.DynamicWords = DefaultDynamicWords
	}
	if o.Here == nil {
		o.Here = func(rma.Rank) bool { return true }
	}
	if o.Lost == nil {
		o.Lost = func(error) {}
	}
	if o.Context == nil {
		o.Context = context.Background()
	}
	return o
}

func (o Options) validate() error {
	if o.Topology == nil {
		return fmt.Errorf("shm: Options.Topology is nil: give the tree of ranks, for instance topology.Flat(8)")
	}
	if n := o.Topology.Ranks(); n > mostRanks {
		return fmt.Errorf("shm: Options.Topology has %d ranks, want at most %d", n, mostRanks)
	}
	if o.Words < 0 || o.Words > mostWords {
		return fmt.Errorf("shm: Options.Words is %d, want 1 to 1<<32 words for each rank", o.Words)
	}
	if o.DynamicWords < 0 || o.DynamicWords > mostWords {
		return fmt.Errorf("shm: Options.DynamicWords is %d, want 1 to 1<<32 words for each rank", o.DynamicWords)
	}
	return nil
}

// ErrNotAFabric matches the error of Open for a file that Create has not made.
var ErrNotAFabric = errors.New("shm: the file is not a fabric")

// ErrMismatch matches every *MismatchError.
var ErrMismatch = errors.New("shm: the fabric was made otherwise")

// MismatchError is the error of Open for a fabric that differs from what this
// process expects.
type MismatchError struct {
	Field  string // the property that differs: version, ranks, topology, Words, DynamicWords
	Fabric string // the fabric's value
	Here   string // the value that this process wants
}

func (e *MismatchError) Error() string {
	return fmt.Sprintf("%v: its %s is %s, here it is %s: start every process from one build with the same options",
		ErrMismatch, e.Field, e.Fabric, e.Here)
}

// Is matches ErrMismatch.
func (e *MismatchError) Is(target error) bool { return target == ErrMismatch }
