package handle

import (
	"context"
	"errors"
	"fmt"

	"github.com/orwl/go-orwl/resource"
)

// Vector is several handles or pairs that are used together, in their order:
//
//	v := handle.Vector{&north, &south, &here}
//	v.Request(handle.ToRead(n), handle.ToRead(s), handle.ToWrite(h))
//	v.Acquire(ctx)
//	neighbours, err := handle.ReadAll[float64](v[:2])
//	sum, err := handle.Write[float64](&here)
//	...
//	v.Next()
//
// A part of a vector is a vector too: v[:2] above.
type Vector []Grant

// Want is an access that a vector requests: see [ToRead] and [ToWrite].
type Want struct {
	resource *resource.Resource
	mode     resource.Mode
}

// ToRead wants r for reading.
func ToRead(r *resource.Resource) Want { return Want{r, resource.Read} }

// ToWrite wants r for writing.
func ToWrite(r *resource.Resource) Want { return Want{r, resource.Write} }

// errTwice is the error of a vector that wants one resource for writing and once more.
var errTwice = errors.New("handle: vector would wait for itself: want each resource once, or only for reading")

// errWants is the error of a vector that got another number of wants than it has members.
var errWants = errors.New("handle: wrong number of wants: pass one for each member of the vector")

// Request announces one access for each member, in the order of the vector. If one
// request fails, Request takes the earlier ones back, and the queues are as before.
//
// The requests are made one after another. Two goroutines that call Request for the same
// resources at the same time may stand in different orders in two queues. Then each waits
// for the other for ever. Let one goroutine make all first requests, as package orwl does.
func (v Vector) Request(wants ...Want) error {
	if len(wants) != len(v) {
		return fmt.Errorf("%w: %d wants for %d members", errWants, len(wants), len(v))
	}
	if r := twice(wants); r != nil {
		return fmt.Errorf("%w: %q is wanted twice", errTwice, r.Name())
	}
	for i, w := range wants {
		if err := v[i].held().Request(w.resource, w.mode); err != nil {
			return errors.Join(err, v[:i].cancel())
		}
	}
	return nil
}

// twice returns a resource that is wanted for writing and once more, or nil.
func twice(wants []Want) *resource.Resource {
	for i, w := range wants {
		for _, other := range wants[:i] {
			if other.resource == w.resource && (other.mode == resource.Write || w.mode == resource.Write) {
				return w.resource
			}
		}
	}
	return nil
}

// Acquire waits for all members. It skips those that are held. If one fails, those before
// it are held, and the others stay in the queues: acquire again or cancel.
func (v Vector) Acquire(ctx context.Context) error {
	for _, g := range v {
		h := g.held()
		if h.place.Held() {
			continue
		}
		if err := h.Acquire(ctx); err != nil {
			return err
		}
	}
	return nil
}

// ReadAll returns the views of all members, as [Read] does for one.
func ReadAll[T any](v Vector) ([]View[T], error) {
	views := make([]View[T], len(v))
	for i, g := range v {
		var err error
		if views[i], err = Read[T](g); err != nil {
			return nil, mapError(i, err)
		}
	}
	return views, nil
}

// mapError names the member that cannot be mapped.
func mapError(i int, err error) error {
	return fmt.Errorf("handle: member %d of the vector: %w", i, err)
}

// Next ends this turn of all members, in their order: a pair announces its next access and
// releases this one, and a handle is released. An error of one does not keep the others
// from their turn.
func (v Vector) Next() error {
	var errs error
	for _, g := range v {
		if p, recurs := g.(*Pair); recurs {
			errs = errors.Join(errs, p.Next())
		} else {
			errs = errors.Join(errs, g.held().Release())
		}
	}
	return errs
}

// Abandon abandons all members that hold or have a request, with the reason: see
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

// cancel makes all members idle: it releases those that hold, and takes the requests of
// the others back.
func (v Vector) cancel() error {
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
