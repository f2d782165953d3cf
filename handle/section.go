package handle

import (
	"context"
	"errors"
)

// ErrUnfinished is the reason with which a section abandons its access when its body
// did not return.
var ErrUnfinished = errors.New("handle: the body of a section ended by a panic or by runtime.Goexit")

// Section runs body while g is held: it acquires before and releases afterwards. So it is
// the last turn of a pair. For the other turns see [Turn].
//
// If Acquire fails, because ctx ends or the resource is broken, Section takes the request
// back and returns the reason. The requests behind it do not wait for it.
//
// If body fails, Section abandons the access: see [Handle.Abandon]. A body fails if it
// returns an error, panics or calls runtime.Goexit. Nothing that it wrote is committed.
func Section(ctx context.Context, g Grant, body func() error) error {
	return section(ctx, g, body, g.Release)
}

// Turn is Section for one of many turns. If body succeeds, a pair announces its next access
// before it releases this one: see [Pair.Next]. A handle is only released.
//
// If Acquire or body fails, the pair announces no next access. It has lost its turn, and
// must request anew to go on.
func Turn(ctx context.Context, g Grant, body func() error) error {
	return section(ctx, g, body, func() error { return again(g) })
}

// again is Next, or Release if g does not recur.
func again(g Grant) error {
	if recurring, ok := g.(interface{ Next() error }); ok {
		return recurring.Next()
	}
	return g.Release()
}

// section is Section and Turn: release ends the access of a body that has succeeded.
func section(ctx context.Context, g Grant, body func() error, release func() error) (err error) {
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
			err = release()
		}
	}()
	err = body()
	returned = true
	return err
}

// withdraw takes the request of g back, if there is one, since it cannot be acquired.
func withdraw(g Grant, why error) error {
	if !g.held().place.Requested() {
		return why // g was idle, or held already
	}
	if err := g.Cancel(); err != nil {
		return errors.Join(why, err)
	}
	return why
}
