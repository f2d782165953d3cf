package queue

import (
	"context"
	"errors"
	"fmt"
)

// By relaxed access a program takes a snapshot, or goes inside until it leaves.

// Snapshot appends the bytes to dst as they are between two accesses, and returns their
// version. If the resource is poisoned, it appends them, too, and returns an error that
// matches [ErrPoisoned].
func (r *Resource) Snapshot(ctx context.Context, dst []byte) (bytes []byte, version uint64, err error) {
	in, err := r.come(ctx, "snapshot", Read)
	if err != nil {
		return dst, 0, err
	}
	defer in.Leave()
	return append(dst, in.Bytes()...), r.ledger.Version(), in.unpoisoned("snapshot")
}

// unpoisoned is the error of op if the resource is poisoned, for a relaxed reader inside.
func (i Inside) unpoisoned(op string) error {
	prior := i.Prior()
	if !errors.Is(prior, ErrPoisoned) {
		return nil
	}
	return i.r.relaxedError(op, Read, prior)
}

// ErrNotInside is the use of an Inside that has left, or a write through one that only
// reads.
var ErrNotInside = errors.New("resource: no relaxed access for writing is open here: call Relaxed with Write, and Leave last")

// Inside is a relaxed access, from [Resource.Relaxed] to Leave. It is a value, so that an
// access allocates nothing. One goroutine uses it, once.
//
//	in, err := r.Relaxed(ctx, queue.Write)
//	if err != nil {
//		return err
//	}
//	b := in.Bytes()
//	...
//	in.Leave()
//
// The leaf rule holds as for any relaxed access: between Relaxed and Leave the task waits
// for no ordered grant. If a panic between them is recovered elsewhere, the resource
// stays locked for good.
type Inside struct {
	r      *Resource
	g      *guard
	mode   Mode
	number uint64  // for observers: see Event.Relaxed
	by     *Holder // nil: the context carries none
}

// Relaxed begins a relaxed access: for reading beside other readers, or for writing
// alone. It waits until the guard lets it in. All earlier writes are then visible.
func (r *Resource) Relaxed(ctx context.Context, m Mode) (Inside, error) {
	if m > Write {
		return Inside{}, fmt.Errorf("resource: %q: Relaxed for mode %d: want Read or Write", r.name, m)
	}
	return r.come(ctx, "relaxed access", m)
}

// come begins every relaxed access. op names the access in errors.
func (r *Resource) come(ctx context.Context, op string, m Mode) (Inside, error) {
	h := holderOf(ctx)
	if err := h.mayRelax(r); err != nil {
		return Inside{}, r.relaxedError(op, m, err)
	}
	if err := r.taken(); err != nil {
		return Inside{}, r.relaxedError(op, m, err)
	}
	number := r.numberRelaxed()
	g, err := r.enterRelaxed(ctx, m, number)
	if err != nil {
		r.tellRelaxed(RelaxedFailed, number, m, err)
		return Inside{}, r.relaxedError(op, m, err)
	}
	in := Inside{r: r, g: g, mode: m, number: number, by: h}
	if m == Write {
		r.buffer.Own()
	}
	r.tellRelaxed(RelaxedAcquired, number, m, nil)
	h.enter(r)
	return in, nil
}

// Bytes returns the resource's bytes. They are valid until Leave or Resize. A reader
// must not change them.
func (i Inside) Bytes() []byte {
	b := i.r.buffer.Bytes()
	return b[:len(b):len(b)]
}

// Resize changes the number of bytes, as Place.Resize does, and returns them: the old
// bytes as far as they fit, then zeros. Slices of the old bytes keep their contents,
// except with fault pages, with Options.Memory, and with memory of a Site's Allocator.
func (i Inside) Resize(size int) ([]byte, error) {
	switch {
	case i.r == nil || i.mode != Write:
		return nil, ErrNotInside
	case !validSize(size):
		return nil, fmt.Errorf("resource: %q: %w", i.r.name, sizeError(size))
	case size == len(i.Bytes()):
		return i.Bytes(), nil
	}
	if err := i.r.buffer.Resize(size); err != nil {
		return nil, fmt.Errorf("resource: %q: %w", i.r.name, err)
	}
	return i.Bytes(), nil
}

// Prior tells what happened to a writer before, or is nil: see [Place.Prior].
func (i Inside) Prior() error { return i.r.prior() }

// Leave ends the access. If it was for writing, the bytes count as written.
func (i Inside) Leave() {
	if i.mode == Write {
		i.r.ledger.Commit()
	}
	i.by.leave()
	if i.mode == Write {
		i.g.locks.Relaxed.Unlock()
	} else {
		i.g.locks.Relaxed.RUnlock()
	}
	i.r.tellRelaxed(RelaxedReleased, i.number, i.mode, nil)
}
