package shm

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"unsafe"

	"github.com/orwl/go-orwl/net/internal/direct"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/topology"
)

// A fabric is one sparse file that has no name, mapped by every process:
//
//	┌────────┬────────┬─────────┬─────┐
//	│ header │ claims │ lobbies │ log │             once
//	├────────┼────────┴┬────────┴─────┴───────┐
//	│  heap  │  slots  │  pool                │     for rank 0
//	├────────┼─────────┼──────────────────────┤
//	│  heap  │  slots  │  pool                │     for rank 1, and so on
//	└────────┴─────────┴──────────────────────┘
//
//	header   magic, version, geometry, topology, the first rank lost
//	claims   for each rank, the process that has it and what became of it
//	lobbies  for each rank, where it waits, and which ranks wait for its words
//	log      for each word of a heap, the size of the allocation that begins there
//	heap     symmetric memory
//	slots    the table of dynamic regions: generation, place, size
//	pool     the memory of dynamic regions
//
// It holds no addresses, so each process maps it where it likes. Zeroes are valid
// everywhere but in the header. Every part begins on a page.
type layout struct {
	geometry
	slots int // dynamic regions that a rank can have at a time

	claims, lobbies, log, segments int64 // where the parts begin, in bytes
	lobby, heap, table, segment    int64 // sizes of the parts of one rank, in bytes
	size                           int64
}

// geometry is what determines a layout.
type geometry struct {
	ranks, words, dynamic int
}

const (
	magic   = 0x62_61_46_6c_77_72_6f_00 // "\0orwlFab" as it lies in memory
	version = 4

	cacheLine = 64
	page      = 4096
	mostBytes = 1 << 46 // half of the addresses that x86-64 gives a process
)

// header begins the file.
type header struct {
	preamble
	lost      atomic.Uint64 // the first rank found dead, plus one
	processes atomic.Uint64 // how often the fabric was opened
}

// preamble is what Open compares. It never changes.
type preamble struct {
	Magic, Version, Ranks, Words, Dynamic uint64
	Topology                              uint64 // fingerprint
}

// claim says which process has a rank.
type claim struct {
	// owner is 0, or the number of the process (its turn in opening the
	// fabric) in the upper half and its pid in the lower.
	owner atomic.Uint64
	// state only ever leaves alive:
	//
	//	alive ──its process closes the fabric──▶ departed
	//	alive ──its process is found dead──────▶ lost
	state atomic.Uint32
	_     uint32
}

const (
	alive uint32 = iota
	departed
	lost
)

// lobby is where one rank waits, and where others wait for its words. The bits of the
// waiters and the places of the guests follow it.
type lobby struct {
	room  direct.Room
	bell  atomic.Uint32 // counts calls for the waker of the process, if it has its desk here
	waker atomic.Uint32 // the rank whose bell wakes the lobby's rank, plus one; 0 if that sleeps for itself
}

// slot is an entry of a rank's table of dynamic regions.
type slot struct {
	// tag is the generation, doubled, plus one while a region is attached.
	tag   atomic.Uint64
	at    atomic.Uint64 // first word in the pool
	words atomic.Uint64
	_     uint64
}

// granule is the unit of the pool, in words: two regions never share a cache
// line. A rank has a slot for every granule, so that slots never run out first.
const granule = 8

func (g geometry) layout() (layout, error) {
	ranks := int64(g.ranks)
	l := layout{geometry: g, slots: min(rma.MaxSlots, (g.dynamic+granule-1)/granule)}
	l.lobby = roundUp(sizeof[lobby]()+8*int64(direct.WaiterWords(g.ranks))+4*int64(direct.GuestPlaces(g.ranks)), cacheLine)
	l.heap = roundUp(8*int64(g.words), page)
	l.table = roundUp(sizeof[slot]()*int64(l.slots), page)
	l.segment = l.heap + l.table + roundUp(8*int64(g.dynamic), page)

	l.claims = page
	l.lobbies = l.claims + roundUp(sizeof[claim]()*ranks, page)
	l.log = l.lobbies + roundUp(l.lobby*ranks, page)
	l.segments = l.log + l.heap
	if l.segment > (mostBytes-l.segments)/ranks {
		return layout{}, fmt.Errorf("shm: %d ranks of %d + %d words need more than the %d TiB that a fabric can have: lower Options.Words or Options.DynamicWords",
			g.ranks, g.words, g.dynamic, int64(mostBytes)>>40)
	}
	l.size = l.segments + l.segment*ranks
	return l, nil
}

// Where the parts of rank p begin.
func (l *layout) lobbyOf(p int) int64   { return l.lobbies + l.lobby*int64(p) }
func (l *layout) waitersOf(p int) int64 { return l.lobbyOf(p) + sizeof[lobby]() }
func (l *layout) heapOf(p int) int64    { return l.segments + l.segment*int64(p) }
func (l *layout) guestsOf(p int) int64  { return l.waitersOf(p) + 8*int64(direct.WaiterWords(l.ranks)) }
func (l *layout) tableOf(p int) int64   { return l.heapOf(p) + l.heap }
func (l *layout) poolOf(p int) int64    { return l.tableOf(p) + l.table }

// roundUp is n, rounded up to a multiple of unit, a power of two.
func roundUp(n, unit int64) int64 { return (n + unit - 1) &^ (unit - 1) }

// sizeof has unsafe in it, but touches no memory.
func sizeof[T any]() int64 {
	var one T
	return int64(unsafe.Sizeof(one))
}

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
