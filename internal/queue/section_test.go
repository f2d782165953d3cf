package queue

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"
)

// sectionFree finds a request that a section has left in the queue of r.
func sectionFree(t *testing.T, r *Resource) {
	t.Helper()
	if r.outstanding() {
		t.Error("a request is left in the queue")
	}
}

func TestSection(t *testing.T) {
	errBody := errors.New("body")
	r, err := New("r", 8)
	if err != nil {
		t.Fatal(err)
	}
	ran := 0
	body := func(p *Place) error {
		ran++
		if !p.Held() {
			t.Error("not held in the section")
		}
		return nil
	}
	if err := Section(t.Context(), r, Write, body); err != nil {
		t.Error(err)
	}
	sectionFree(t, r)
	if err := Section(t.Context(), r, Write, func(p *Place) error { return errors.Join(body(p), errBody) }); !errors.Is(err, errBody) {
		t.Error(err)
	}
	sectionFree(t, r)
	func() {
		defer func() {
			if recover() != errBody {
				t.Error("the panic is lost")
			}
		}()
		Section(t.Context(), r, Write, func(*Place) error { panic(errBody) })
	}()
	sectionFree(t, r)
	// A body that releases gets an error. If the body fails too, it gets its own.
	if err := Section(t.Context(), r, Write, (*Place).Release); !errors.Is(err, ErrNotHeld) {
		t.Error(err)
	}
	if err := Section(t.Context(), r, Write, func(p *Place) error { return errors.Join(errBody, p.Release()) }); !errors.Is(err, errBody) {
		t.Error(err)
	}
	sectionFree(t, r)
	if ran != 2 {
		t.Errorf("the body ran %d times, want 2", ran)
	}
}

// A section that gives up waiting takes its request back: the requests behind it do not
// wait for one that is never acquired.
func TestSectionThatGivesUpLetsOthersIn(t *testing.T) {
	r, err := New("r", 8)
	if err != nil {
		t.Fatal(err)
	}
	var first, behind Place
	if err := errors.Join(first.Request(r, Write), first.Acquire(t.Context())); err != nil {
		t.Fatal(err)
	}
	over, end := context.WithCancel(t.Context())
	end()
	if err := Section(over, r, Write, func(*Place) error { t.Error("the body ran"); return nil }); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := errors.Join(behind.Request(r, Write), first.Release()); err != nil {
		t.Fatal(err)
	}
	if !behind.Granted() {
		t.Fatal("the next one waits for a section that has given up")
	}
	if err := behind.Cancel(); err != nil {
		t.Error(err)
	}
}

// failures are the ways in which a body fails.
var failures = map[string]func(err error) error{
	"error":  func(err error) error { return err },
	"panic":  func(err error) error { panic(err) },
	"Goexit": func(error) error { runtime.Goexit(); return nil },
}

// onItsOwn runs do on its own goroutine, so that do may panic or call Goexit.
func onItsOwn(do func()) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer func() { recover() }()
		do()
	}()
	<-ended
}

// A section that fails while it writes commits nothing, and the next holder learns it.
func TestSectionThatFailsCommitsNothing(t *testing.T) {
	errBody := errors.New("body")
	for name, fail := range failures {
		t.Run(name, func(t *testing.T) {
			r := newResource(t, 8)
			onItsOwn(func() {
				Section(t.Context(), r, Write, func(p *Place) error {
					b, err := p.Writable()
					if err != nil {
						t.Error(err)
					}
					b[0] = 7
					return fail(errBody)
				})
			})
			sectionFree(t, r)
			if looked := Look(t.Context(), r, func(*Place) error { return nil }); !errors.Is(looked, ErrPoisoned) {
				t.Errorf("a look afterwards: %v", looked)
			}
			err := Section(t.Context(), r, Read, func(p *Place) error {
				want := map[string]error{"error": errBody}[name]
				if !errors.Is(p.Prior(), ErrPoisoned) || !errors.Is(p.Prior(), cmp.Or(want, ErrUnfinished)) {
					t.Errorf("prior is %v, want what matches ErrPoisoned and the reason", p.Prior())
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// A section that fails before it writes only releases.
func TestSectionThatFailsWithoutAWrite(t *testing.T) {
	for name, fail := range failures {
		for _, m := range []Mode{Read, Write} {
			t.Run(fmt.Sprint(name, m), func(t *testing.T) {
				r := newResource(t, 8)
				onItsOwn(func() {
					Section(t.Context(), r, m, func(p *Place) error {
						_, err := p.Bytes()
						return fail(errors.Join(err, errors.New("body")))
					})
				})
				err := Look(t.Context(), r, func(p *Place) error {
					if p.Prior() != nil || p.Version() != 0 {
						t.Errorf("version %d, prior %v", p.Version(), p.Prior())
					}
					return nil
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
	}
}
