package queue

import "context"

// Games and tests go inside by a function.

// ReadRelaxed calls read with the bytes while there is no writer. It does not call it if the resource is poisoned.
func (r *Resource) ReadRelaxed(ctx context.Context, read func(b []byte) error) error {
	in, err := r.Relaxed(ctx, Read)
	if err != nil {
		return err
	}
	defer in.Leave()
	if err := in.unpoisoned("relaxed read"); err != nil {
		return err
	}
	return read(in.Bytes())
}

// WriteRelaxed calls write with the bytes while there is no other reader or writer.
func (r *Resource) WriteRelaxed(ctx context.Context, write func(b []byte) error) (err error) {
	in, err := r.Relaxed(ctx, Write)
	if err != nil {
		return err
	}
	defer in.Leave()
	return write(in.Bytes())
}

// Open is the first relaxed access, and reads nothing. Before the first request it does
// not wait.
func (r *Resource) Open(ctx context.Context) error {
	err := holderOf(ctx).mayRelax(r)
	if err == nil {
		err = r.taken()
	}
	if err == nil {
		var g *guard
		if g, err = r.enterRelaxed(ctx, Read, 0); err == nil {
			g.locks.Relaxed.RUnlock()
			return nil
		}
	}
	return r.relaxedError("open", Read, err)
}
