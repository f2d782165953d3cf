package resource

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
)

// LostWriteError is a write that was released and that its home may not have: the link
// between the two broke before the home confirmed it. It matches ErrLost.
//
// The write is perhaps committed after all. Only a read at the home can tell.
type LostWriteError struct {
	Resource string
	Home     Node
	Fence    uint64 // of the grant that wrote
	Err      error  // what broke the link
}

func (e *LostWriteError) Error() string {
	return fmt.Sprintf("resource: a write of %q was released and may be lost (fence %d): node %d, its home, has not confirmed it: read the resource, and write again if the write is not there: %v",
		e.Resource, e.Fence, e.Home, e.Err)
}

func (e *LostWriteError) Unwrap() error { return e.Err }

// Is matches ErrLost.
func (e *LostWriteError) Is(target error) bool { return target == ErrLost }

// Flush returns nil when the home has committed every write that the place has released.
// It concerns the resource that the place requested last. A write at the home is committed
// by its release, so there Flush returns at once.
//
// A write that may be lost is a [*LostWriteError]. If ctx ends first, Flush returns a
// [*PlaceError] with the reason, and may be called again.
func (p *Place) Flush(ctx context.Context) error { return Flush(ctx, p) }

// Flush is [Place.Flush] of several places. It asks all homes, then waits for all.
func Flush(ctx context.Context, places ...*Place) error {
	var all []inquiry
	for _, p := range places {
		if p.r != nil && p.far() {
			all = append(all, inquiry{f: p.r.mirror, by: p})
		}
	}
	return flush(ctx, all)
}

// Flush is [Place.Flush] of all places of this node. It returns each lost write once, and
// the place that wrote is told all the same.
func (s *Site) Flush(ctx context.Context) error {
	s.mu.RLock()
	all := make([]inquiry, 0, len(s.mirrors))
	for _, f := range s.mirrors {
		all = append(all, inquiry{f: f})
	}
	s.mu.RUnlock()
	slices.SortFunc(all, func(a, b inquiry) int { return cmp.Compare(a.f.r.name, b.f.r.name) })
	return flush(ctx, all)
}

// inquiry is a question to a home about the last write that was released here.
type inquiry struct {
	f  *mirror
	by *Place  // nil: whichever place wrote
	w  *waiter // for the answer, nil if it is known
}

func flush(ctx context.Context, all []inquiry) error {
	for i := range all {
		all[i].w = all[i].f.ask(all[i].by)
	}
	var errs error
	for _, q := range all {
		errs = errors.Join(errs, q.f.answer(ctx, q.w), q.f.collectLost(q.by))
	}
	return errs
}
