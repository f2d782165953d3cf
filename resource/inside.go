package resource

import (
	"context"
	"errors"
	"fmt"
)

// ErrNotInside is the use of an Inside that has left, or a write through one that only
// reads.
var ErrNotInside = errors.New("resource: no relaxed access for writing is open here: call Knock with Write, and Leave last")

// Inside is a relaxed access, from [Resource.Knock] to Leave: ReadRelaxed and
// WriteRelaxed without a function. It is a value, so that an access allocates nothing.
// One goroutine uses it, once.
//
//	in, err := r.Knock(ctx, resource.Write)
//	if err != nil {
//		return err
//	}
//	b := in.Bytes()
//	...
//	in.Leave()
//
// A writer that fails calls Abandon instead of Leave.
//
// The leaf rule holds as for any relaxed access: between Knock and Leave the task waits
// for no ordered grant. If a panic between them is recovered elsewhere, the resource
// stays locked for good.
type Inside struct {
	r      *Resource
	g      *guard
	mode   Mode
	number uint64  // for observers: see Event.Relaxed
	by     *Holder // nil: the context carries none
}

// Knock begins a relaxed access: for reading beside other readers, or for writing
// alone. It waits until the guard lets it in. All earlier writes are then visible.
func (r *Resource) Knock(ctx context.Context, m Mode) (Inside, error) {
	if m > Write {
		return Inside{}, fmt.Errorf("resource: %q: Knock for mode %d: want Read or Write", r.name, m)
	}
	return r.come(ctx, "knock", m)
}

// come begins every relaxed access. op names the access in errors.
func (r *Resource) come(ctx context.Context, op string, m Mode) (Inside, error) {
	h := holderOf(ctx)
	if err := h.mayKnock(r); err != nil {
		return Inside{}, r.relaxedError(op, m, err)
	}
	number := r.relaxed()
	g, err := r.knock(ctx, m, number)
	if err != nil {
		r.tellRelaxed(RelaxedFailed, number, m, err)
		return Inside{}, r.relaxedError(op, m, err)
	}
	r.tellRelaxed(RelaxedAcquired, number, m, nil)
	if m == Write {
		r.buffer.Own()
		r.save()
	}
	h.enter(r)
	return Inside{r, g, m, number, h}, nil
}

// Bytes returns the resource's bytes. They are valid until Leave or Resize. A reader
// must not change them.
func (i Inside) Bytes() []byte {
	b := i.r.buffer.Bytes()
	return b[:len(b):len(b)]
}

// Resize changes the number of bytes, as Place.Resize does, and returns them: the old
// bytes as far as they fit, then zeros. Slices of the old bytes keep their contents,
// except with fault pages and with memory of a Site's Allocator.
func (i Inside) Resize(size int) ([]byte, error) {
	switch {
	case i.r == nil || i.mode != Write:
		return nil, ErrNotInside
	case !validSize(size):
		return nil, fmt.Errorf("resource: %q: %w", i.r.name, sizeError(size))
	case size != len(i.r.buffer.Bytes()):
		if err := i.r.buffer.Resize(size); err != nil {
			return nil, fmt.Errorf("resource: %q: %w", i.r.name, err)
		}
	}
	return i.Bytes(), nil
}

// Prior tells what happened to a writer before, or is nil: see [Place.Prior].
func (i Inside) Prior() error { return i.r.prior() }

// Leave ends the access. If it was for writing, the bytes count as written.
func (i Inside) Leave() {
	if i.mode == Write {
		i.r.committed(nil)
	}
	i.leave()
}

// Abandon ends the access of a writer that has failed, with the reason: nothing of the
// write is committed. The resource's [Policy] says what happens to the bytes, and what
// later accesses learn. A reader only leaves.
func (i Inside) Abandon(reason error) {
	if i.mode == Write {
		i.r.failed(reason)
	}
	i.leave()
	if i.mode == Write && i.r.ledger.Policy() == Abort {
		i.r.Break(fmt.Errorf("%w: %w", ErrAborted, reason))
	}
}

func (i Inside) leave() {
	i.by.leave()
	if i.mode == Write {
		i.g.locks.Relaxed.Unlock()
	} else {
		i.g.locks.Relaxed.RUnlock()
	}
	i.r.tellRelaxed(RelaxedReleased, i.number, i.mode, nil)
}
