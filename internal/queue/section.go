package queue

import (
	"context"
	"errors"
)

// ErrUnfinished is the reason with which a section abandons its access when its body did not return.
var ErrUnfinished = errors.New("resource: the body of a section ended by a panic or by runtime.Goexit")

// Section is one access to r: it requests, waits, runs body while the place holds, and releases.
//
// If it cannot acquire, because ctx ends or the resource is broken, it takes the request back and returns the reason, so
// that the requests behind it do not wait for it. If body fails, it abandons the access: nothing that was written is
// committed. A body fails if it returns an error, panics or calls runtime.Goexit.
func Section(ctx context.Context, r *Resource, m Mode, body func(p *Place) error) (err error) {
	var p Place
	if err := p.Request(r, m); err != nil {
		return err
	}
	if err := p.Acquire(ctx); err != nil {
		return errors.Join(err, p.Cancel())
	}
	returned := false
	defer func() {
		switch {
		case !returned:
			_ = p.Abandon(ErrUnfinished) // the panic goes on
		case err != nil:
			err = errors.Join(err, p.Abandon(err))
		default:
			err = p.Release()
		}
	}()
	err = body(&p)
	returned = true
	return err
}

// Look is a section that reads. It returns an error that matches [ErrPoisoned], and does not call body, if the bytes may
// be half written.
func Look(ctx context.Context, r *Resource, body func(p *Place) error) error {
	return Section(ctx, r, Read, func(p *Place) error {
		if prior := p.Prior(); errors.Is(prior, ErrPoisoned) {
			return prior
		}
		return body(p)
	})
}
