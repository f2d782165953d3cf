package table

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync/atomic"
	"unsafe"

	"github.com/orwl/go-orwl/apps/dht/volume"
	"github.com/orwl/go-orwl/resource"
)

// A volume of numbers is a header of its own, and the words of a volume.Table:
//
//	┌───────────────────────────────┬──────────────────────────┐
//	│ magic │ buckets │ cells of    │ a volume.Table           │
//	│       │         │ the heap    │                          │
//	└───────────────────────────────┴──────────────────────────┘
//	0       1         2             8 words
const (
	numbersMagic  = 0x31_6d_75_6e_6c_77_72_6f // "orwlnum1"
	numbersHeader = 8
	bucketWords   = 7 // of a bucket: its last, its cell, and half a cell of the heap
)

// numbersLayout is that of a volume of so many bytes.
func numbersLayout(size int, hash func(uint64) uint64) volume.Layout {
	buckets := (size/8 - numbersHeader - 16) / bucketWords
	return volume.Layout{Buckets: buckets, Heap: buckets / 2, Hash: hash}
}

func wordsOf(b []byte) []uint64 {
	return unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/8)
}

// formatNumbers makes zeroed bytes an empty volume.
func formatNumbers(b []byte, hash func(uint64) uint64) (*volume.Table, error) {
	words, l := wordsOf(b), numbersLayout(len(b), hash)
	words[0], words[1], words[2] = numbersMagic, uint64(l.Buckets), uint64(l.Heap)
	return volume.Open(words[numbersHeader:], l)
}

// OpenNumbers is a volume of numbers as [Numbers.Snapshot] gives it, to read, in a
// process of the same byte order. Hash is the table's, nil for that of Options without
// one.
func OpenNumbers(b []byte, hash func(uint64) uint64) (*volume.Table, error) {
	words := make([]uint64, len(b)/8) // b may lie anywhere
	for i := range words {
		words[i] = binary.NativeEndian.Uint64(b[8*i:])
	}
	return openNumbers(words, hash)
}

func openNumbers(words []uint64, hash func(uint64) uint64) (*volume.Table, error) {
	if len(words) < leastVolume/8 || words[0] != numbersMagic {
		return nil, fmt.Errorf("%w: %d words do not begin as one of numbers", ErrDamaged, len(words))
	}
	l := numbersLayout(8*len(words), hash)
	if words[1] != uint64(l.Buckets) || words[2] != uint64(l.Heap) {
		return nil, fmt.Errorf("%w: %d buckets and %d cells in %d words", ErrDamaged, words[1], words[2], len(words))
	}
	return volume.Open(words[numbersHeader:], l)
}

// numbersHome is a volume of numbers that this node keeps.
//
// Who writes has the resource alone, and makes writes odd before and even after. Who
// reads looks without a lock (glimpse): if writes was even, and is the same afterwards,
// nobody wrote meanwhile, and what was read is true. Otherwise it goes through the
// resource's door, as all do where words cannot be read while they are written.
type numbersHome struct {
	r      *resource.Resource
	table  atomic.Pointer[volume.Table]
	o      *Options
	hash   func(uint64) uint64
	_      [64]byte // everybody reads the above, every writer writes the below
	writes atomic.Uint64
	_      [56]byte
}

func newNumbersHome(ctx context.Context, number int, o *Options, hash func(uint64) uint64) (*numbersHome, error) {
	h := &numbersHome{o: o, hash: hash}
	var failed error
	var err error
	h.r, err = newHome(ctx, number, o.First, o, func(b []byte) {
		var t *volume.Table
		t, failed = formatNumbers(b, hash)
		h.table.Store(t)
	})
	return h, errors.Join(err, failed)
}

// glimpse is the value of a key, if nobody writes.
func (h *numbersHome) glimpse(key uint64) (value uint64, found, ok bool) {
	writes := h.writes.Load()
	if writes&1 != 0 {
		return 0, false, false
	}
	value, found = h.table.Load().Get(key)
	return value, found, h.writes.Load() == writes
}

// get is the value of a key.
func (h *numbersHome) get(ctx context.Context, key uint64) (value uint64, found bool, err error) {
	if glimpses {
		if value, found, ok := h.glimpse(key); ok {
			return value, found, nil
		}
	}
	in, err := h.r.Knock(ctx, resource.Read)
	if err != nil {
		return 0, false, err
	}
	value, found = h.table.Load().Get(key)
	in.Leave()
	return value, found, nil
}

// write lets the caller alone with the volume, until it calls leave.
func (h *numbersHome) write(ctx context.Context) (resource.Inside, error) {
	in, err := h.r.Knock(ctx, resource.Write)
	if err == nil && glimpses {
		h.writes.Add(1)
	}
	return in, err
}

func (h *numbersHome) leave(in resource.Inside) {
	if glimpses {
		h.writes.Add(1)
	}
	in.Leave()
}

// change does an op in a volume that the caller has alone.
func (h *numbersHome) change(in resource.Inside, o *NumberOp, r *NumberResult) {
	for {
		err := o.change(h.table.Load(), r)
		if err == nil {
			return
		}
		if err = h.grow(in, err); err != nil {
			*r = NumberResult{Err: err}
			return
		}
	}
}

// grow makes a volume that is full twice as large, if it may be.
func (h *numbersHome) grow(in resource.Inside, full error) error {
	size := len(in.Bytes())
	if size >= h.o.Most {
		return fmt.Errorf("%w: %s: %w", ErrFull, h.r.Name(), full)
	}
	old := h.table.Load()
	return h.resize(in, min(2*size, h.o.Most), func(t *volume.Table) error { return old.MoveTo(t) })
}

// resize makes the volume an empty one of another size, and has it filled.
func (h *numbersHome) resize(in resource.Inside, size int, fill func(*volume.Table) error) error {
	if len(in.Bytes()) == size {
		h.table.Load().Clear()
		return nil
	}
	b, err := anew(in, size) // the old one is still there, for those who look at it
	if err != nil {
		return err
	}
	t, err := formatNumbers(b, h.hash)
	if err == nil {
		err = fill(t)
	}
	if err != nil {
		return err
	}
	h.table.Store(t)
	return nil
}
