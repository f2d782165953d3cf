package queue

import (
	"bytes"
	"errors"
	"runtime"
	"testing"
)

// A relaxed writer that fails commits nothing. With Undo the bytes are as before.
// Without it the resource is poisoned for relaxed and ordered readers, until the next
// commit.
func TestRelaxedWriterFails(t *testing.T) {
	reason := errors.New("reason")
	for name, fail := range map[string]func(b []byte) error{
		"error": func([]byte) error { return reason },
		"panic": func([]byte) error { panic(reason) },
		"exit":  func([]byte) error { runtime.Goexit(); return nil },
	} {
		for _, undo := range []bool{false, true} {
			r, _ := hinged(t, "RMA-RW", RelaxedOptions{})
			if undo {
				r.recovery = &recovery{undo: true}
			}
			ctx := t.Context()
			write := func(last func(b []byte) error) {
				ended := make(chan struct{})
				go func() {
					defer close(ended)
					defer func() { _ = recover() }()
					if err := r.WriteRelaxed(ctx, last); name == "error" && !errors.Is(err, reason) && err != nil {
						t.Errorf("%v", err)
					}
				}()
				<-ended
			}
			one := bytes.Repeat([]byte{1}, 16)
			write(func(b []byte) error { copy(b, one); return nil })
			write(func(b []byte) error { b[3] = 7; return fail(b) })

			got, version, err := r.Snapshot(ctx, nil)
			read := r.ReadRelaxed(ctx, func([]byte) error { return nil })
			p := taken(t, new(network), r, Read)
			prior := p.Prior()
			fine(t, p.Release())
			if undo {
				if err != nil || read != nil || !bytes.Equal(got, one) || version != 1 || !errors.Is(prior, ErrPriorHolderLost) {
					t.Errorf("%s, with Undo: %v, version %d, errors %v, %v, prior %v", name, got, version, err, read, prior)
				}
				continue
			}
			for _, err := range []error{err, read, prior} {
				if !errors.Is(err, ErrPoisoned) || name == "error" && !errors.Is(err, reason) {
					t.Errorf("%s: %v, want what matches ErrPoisoned and the reason", name, err)
				}
			}
			write(func(b []byte) error { copy(b, one); return nil })
			if err := r.ReadRelaxed(ctx, func([]byte) error { return nil }); err != nil {
				t.Errorf("%s: written anew, and %v", name, err)
			}
		}
	}
}

// The failure of a relaxed writer ends a resource whose policy is Abort.
func TestRelaxedWriterAborts(t *testing.T) {
	r, _ := hinged(t, "RMA-RW", RelaxedOptions{})
	fine(t, r.SetPolicy(Abort))
	reason := errors.New("reason")
	if err := r.WriteRelaxed(t.Context(), func([]byte) error { return reason }); err != reason {
		t.Errorf("%v", err)
	}
	err := r.ReadRelaxed(t.Context(), func([]byte) error { return nil })
	if !errors.Is(err, ErrAborted) || !errors.Is(err, reason) {
		t.Errorf("%v, want what matches ErrAborted and the reason", err)
	}
}
