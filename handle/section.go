package handle

import (
	"context"
	"errors"
)

// Section runs body while g is held: it acquires before and releases afterwards,
// also if body panics. A pair announces its next access by that.
func Section(ctx context.Context, g Grant, body func() error) (err error) {
	if err := g.Acquire(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, g.Release()) }()
	return body()
}
