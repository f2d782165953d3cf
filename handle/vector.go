package handle

import (
	"context"
	"errors"
)

// Vector is several handles or pairs that are used together, in their order.
type Vector []Grant

// Acquire acquires all. If it fails, those before the one that failed are held,
// and the rest stands in the queues: acquire again, or Cancel.
func (v Vector) Acquire(ctx context.Context) error {
	for _, g := range v {
		if g.held().place.Held() {
			continue
		}
		if err := g.Acquire(ctx); err != nil {
			return err
		}
	}
	return nil
}

// Test reports whether Acquire would return at once.
func (v Vector) Test() bool {
	for _, g := range v {
		if !g.Test() {
			return false
		}
	}
	return true
}

// Release releases all, in their order; pairs announce their next accesses.
func (v Vector) Release() error {
	var errs error
	for _, g := range v {
		errs = errors.Join(errs, g.Release())
	}
	return errs
}

// Abandon abandons all that is held or stands in a queue, for one reason: see
// [Handle.Abandon].
func (v Vector) Abandon(reason error) error {
	var errs error
	for _, g := range v {
		if h := g.held(); h.place.Held() || h.place.Requested() {
			errs = errors.Join(errs, h.Abandon(reason))
		}
	}
	return errs
}

// Cancel makes all of them idle: what is held is released for good, what stands in
// a queue is taken back.
func (v Vector) Cancel() error {
	var errs error
	for _, g := range v {
		switch h := g.held(); {
		case h.place.Held():
			errs = errors.Join(errs, h.Release())
		case h.place.Requested():
			errs = errors.Join(errs, h.Cancel())
		}
	}
	return errs
}
