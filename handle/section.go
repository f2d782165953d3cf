package handle

import (
	"context"
	"errors"
)

// ErrUnfinished is the reason with which a section abandons its access when its body
// did not return.
var ErrUnfinished = errors.New("handle: the body of a section ended by a panic or by runtime.Goexit")

// Section runs body while g is held: it acquires before and releases afterwards. The
// release of a pair announces its next access.
//
// If Acquire fails, because ctx ends or the resource is broken, Section takes the
// request back and returns the reason. Requests behind it do not wait for it.
//
// If body fails, Section abandons the access: see [Handle.Abandon]. A body fails if it
// returns an error, panics or calls runtime.Goexit. Nothing that it wrote is committed.
//
// In both cases a pair announces no next access. It has lost its turn, and requests
// anew if it goes on.
func Section(ctx context.Context, g Grant, body func() error) (err error) {
	if err := g.Acquire(ctx); err != nil {
		return withdraw(g, err)
	}
	returned := false
	defer func() {
		switch {
		case !returned:
			_ = g.Abandon(ErrUnfinished) // the panic goes on
		case err != nil:
			if failed := g.Abandon(err); failed != nil {
				err = errors.Join(err, failed)
			}
		default:
			err = g.Release()
		}
	}()
	err = body()
	returned = true
	return err
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
