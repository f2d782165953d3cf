package handle

import (
	"context"
	"errors"
)

// Section runs body while g is held: it acquires before and releases afterwards,
// also if body panics. The release of a pair announces its next access.
//
// If Acquire fails, because ctx ends or the resource is broken, Section takes the
// request back and returns the reason. Requests behind it do not wait for it, and a
// pair has to request anew.
func Section(ctx context.Context, g Grant, body func() error) (err error) {
	if err := g.Acquire(ctx); err != nil {
		return withdraw(g, err)
	}
	defer func() { err = errors.Join(err, g.Release()) }()
	return body()
}

// withdraw takes the request of g back, if there is one, since it cannot be acquired.
func withdraw(g Grant, why error) error {
	if !g.held().place.Requested() {
		return why // it was never requested, or is held already
	}
	if err := g.Cancel(); err != nil {
		return errors.Join(why, err)
	}
	return why
}
