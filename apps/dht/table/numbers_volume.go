package table

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/orwl/go-orwl/resource"
)

// numbersHome is a volume of numbers that this node keeps.
//
// A writer has the resource alone. It makes writes odd before it changes the volume, and even
// after. A reader looks without a lock (Numbers.glimpse): if writes was even before and is
// unchanged after, no writer came between, and the value is true. Otherwise the reader takes a
// relaxed access. So does every reader where words cannot be read while they are written.
type numbersHome struct {
	writes atomic.Uint64
	volume atomic.Pointer[NumbersVolume]
	r      *resource.Resource
	o      *Options
	hash   func(uint64) uint64
	_      [88]byte // a cache line, and the one that comes with it
}

func newNumbersHome(ctx context.Context, number int, o *Options, hash func(uint64) uint64) (*numbersHome, error) {
	h := &numbersHome{o: o, hash: hash}
	var err error
	h.r, err = newHome(ctx, number, o.First, o, nil, func(b []byte) { h.volume.Store(formatNumbers(b, hash)) })
	return h, err
}

// get is the value of a key, by a relaxed access.
func (h *numbersHome) get(ctx context.Context, key uint64) (value uint64, found bool, err error) {
	in, err := h.r.Relaxed(ctx, resource.Read)
	if err != nil {
		return 0, false, err
	}
	value, found = h.volume.Load().Get(key)
	in.Leave()
	return value, found, nil
}

// write lets the caller alone with the volume, until it calls leave.
func (h *numbersHome) write(ctx context.Context) (resource.Inside, error) {
	in, err := h.r.Relaxed(ctx, resource.Write)
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

// change does an op in a volume that the caller has alone. Hash is the key's.
func (h *numbersHome) change(in resource.Inside, o *NumberOp, hash uint64, r *NumberResult) {
	for !o.change(h.volume.Load(), hash, r) {
		if err := h.grow(in); err != nil {
			*r = NumberResult{Err: err}
			return
		}
	}
}

// grow makes a volume that is full twice as large, if it may be.
func (h *numbersHome) grow(in resource.Inside) error {
	size, old := len(in.Bytes()), h.volume.Load()
	if size < h.o.Most {
		larger, err := h.anew(in, min(2*size, h.o.Most))
		if err != nil {
			return err
		}
		if old.moveTo(larger) {
			h.volume.Store(larger)
			return nil
		}
	}
	return fmt.Errorf("%w: %s has %d keys", ErrFull, h.r.Name(), old.Len())
}

// clear takes all keys away.
func (h *numbersHome) clear(in resource.Inside) error {
	if len(in.Bytes()) == h.o.First {
		h.volume.Load().clear()
		return nil
	}
	empty, err := h.anew(in, h.o.First)
	if err == nil {
		h.volume.Store(empty)
	}
	return err
}

// anew gives the resource the memory of an empty volume. The old one keeps its content, for
// readers that are still inside.
func (h *numbersHome) anew(in resource.Inside, size int) (*NumbersVolume, error) {
	b, err := anew(in, size)
	if err != nil {
		return nil, err
	}
	return formatNumbers(b, h.hash), nil
}
