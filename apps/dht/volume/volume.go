package volume

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"strings"
	"sync/atomic"

	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/topology"
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

// memory is the words of a volume, as one rank reaches them: by loads and stores
// where it can, by operations of its window elsewhere. The algorithms are the
// same, and what the simulator verifies is the weaker of the two.
//
// Use its plain methods while a lock excludes others, and the atomic ones, further down, where
// no lock does.
type memory struct {
	words []uint64 // nil: operations of the window reach the memory

	w     rma.Window
	owner rma.Rank
	base  rma.Disp
	buf   []byte // of one cell

	// fetch makes an atomic read a FetchOp and not a Get, as the paper does.
	fetch bool
}

// cell is a copy of one.
type cell struct{ state, key, value, next uint64 }

// reach is the memory of a region as the rank of w reaches it.
func reach(w rma.Window, owner rma.Rank, base rma.Disp, words int) memory {
	m := memory{w: w, owner: owner, base: base}
	if shared, ok := w.(rma.Shared); ok {
		if direct, ok := shared.Memory(owner, base, words); ok {
			m.words = direct
			return m
		}
	}
	m.buf = make([]byte, cellBytes)
	return m
}

func (m *memory) at(i int) rma.Disp { return m.base + rma.Disp(i) }

func (m *memory) load(i int) uint64 {
	if m.words != nil {
		return m.words[i]
	}
	return m.w.Get(m.owner, m.at(i))
}

func (m *memory) store(i int, v uint64) {
	if m.words != nil {
		m.words[i] = v
		return
	}
	m.w.Put(m.owner, m.at(i), v)
}

// cell reads one in a single operation.
func (m *memory) cell(i int) cell {
	if m.words != nil {
		c := m.words[i : i+cellWords : i+cellWords]
		return cell{c[0], c[1], c[2], c[3]}
	}
	return m.farCell(i)
}

func (m *memory) farCell(i int) cell {
	m.w.GetBytes(m.owner, m.at(i), m.buf)
	return cell{
		binary.NativeEndian.Uint64(m.buf), binary.NativeEndian.Uint64(m.buf[8:]),
		binary.NativeEndian.Uint64(m.buf[16:]), binary.NativeEndian.Uint64(m.buf[24:]),
	}
}

// setCell writes one in a single operation.
func (m *memory) setCell(i int, c cell) {
	if m.words != nil {
		to := m.words[i : i+cellWords : i+cellWords]
		to[inState], to[inKey], to[inValue], to[inNext] = c.state, c.key, c.value, c.next
		return
	}
	for k, v := range [...]uint64{c.state, c.key, c.value, c.next} {
		binary.NativeEndian.PutUint64(m.buf[8*k:], v)
	}
	m.w.PutBytes(m.owner, m.at(i), m.buf)
}

// flush completes what was stored.
func (m *memory) flush() {
	if m.words == nil {
		m.w.Flush(m.owner)
	}
}

// failure is why an answer cannot be trusted: operations of a window that has
// failed answer zero. Memory that was asked itself does not lie.
func (m *memory) failure() error {
	if m.words == nil {
		if err := m.w.Err(); err != nil {
			return fmt.Errorf("volume: %w", err)
		}
	}
	return nil
}

func (m *memory) atomicLoad(i int) uint64 {
	if m.words != nil {
		return atomic.LoadUint64(&m.words[i])
	}
	if m.fetch {
		return m.w.FetchOp(m.owner, m.at(i), rma.NoOp, 0)
	}
	return m.w.Get(m.owner, m.at(i))
}

// atomicStore is complete after the next flush.
func (m *memory) atomicStore(i int, v uint64) {
	if m.words != nil {
		atomic.StoreUint64(&m.words[i], v)
		return
	}
	m.w.Put(m.owner, m.at(i), v)
}

// fetchAdd returns what the word held before.
func (m *memory) fetchAdd(i int, delta uint64) uint64 {
	if m.words != nil {
		return atomic.AddUint64(&m.words[i], delta) - delta
	}
	return m.w.FetchOp(m.owner, m.at(i), rma.Sum, delta)
}

// cas returns what the word held before: the swap happened if that is old.
func (m *memory) cas(i int, old, new uint64) uint64 {
	if m.words == nil {
		return m.w.CAS(m.owner, m.at(i), old, new)
	}
	for {
		if atomic.CompareAndSwapUint64(&m.words[i], old, new) {
			return old
		}
		if now := atomic.LoadUint64(&m.words[i]); now != old {
			return now
		}
	}
}
