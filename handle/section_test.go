package handle

import (
	"context"
	"errors"
	"testing"

	"github.com/orwl/go-orwl/resource"
)

func TestSection(t *testing.T) {
	errBody := errors.New("body")
	r := newResource(t, 8)
	var h Handle
	var p Pair
	for name, g := range map[string]asker{"handle": &h, "pair": &p} {
		t.Run(name, func(t *testing.T) {
			place := g.held().Place()
			idle := func() {
				t.Helper()
				if place.Held() || place.Requested() != (name == "pair") {
					t.Errorf("held %t, requested %t", place.Held(), place.Requested())
				}
			}
			again := func() {
				if name == "handle" {
					fine(t, g.Request(r, resource.Write))
				}
			}
			fine(t, g.Request(r, resource.Write))
			ran := 0
			body := func() error {
				ran++
				if !place.Held() {
					t.Error("not held in the section")
				}
				return nil
			}
			fine(t, Section(t.Context(), g, body))
			idle()
			again()
			if err := Section(t.Context(), g, func() error { return errors.Join(body(), errBody) }); !errors.Is(err, errBody) {
				t.Error(err)
			}
			idle()
			again()
			func() {
				defer func() {
					if recover() != errBody {
						t.Error("the panic is lost")
					}
				}()
				Section(t.Context(), g, func() error { panic(errBody) })
			}()
			idle()
			again()
			// Who releases in the body is told; so is who fails there as well.
			err := Section(t.Context(), g, func() error { return errors.Join(errBody, g.Release()) })
			if !errors.Is(err, errBody) || !errors.Is(err, resource.ErrNotHeld) {
				t.Error(err)
			}
			if name == "pair" {
				fine(t, g.Cancel())
			}
			first := holder(t, r)
			fine(t, g.Request(r, resource.Write))
			if err := Section(ended(), g, body); !errors.Is(err, context.Canceled) || place.Requested() {
				t.Errorf("%v, requested: %t", err, place.Requested())
			}
			fine(t, first.Release())
			if err := Section(t.Context(), g, body); !errors.Is(err, resource.ErrNotRequested) {
				t.Error(err)
			}
			if ran != 2 {
				t.Errorf("the body ran %d times, want 2", ran)
			}
		})
	}
}

// A section that gives up waiting takes its request back: nobody behind it waits for a
// request that nobody acquires.
func TestSectionThatGivesUpLetsOthersIn(t *testing.T) {
	var h Handle
	var p Pair
	for name, g := range map[string]asker{"handle": &h, "pair": &p} {
		t.Run(name, func(t *testing.T) {
			r := newResource(t, 8)
			first := holder(t, r)
			fine(t, g.Request(r, resource.Write))
			var behind Handle
			fine(t, behind.Request(r, resource.Write))
			err := Section(ended(), g, func() error { t.Error("the body ran"); return nil })
			if !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
			fine(t, first.Release())
			if !behind.Test() {
				t.Fatal("the next one waits for a section that has given up")
			}
			fine(t, behind.Acquire(t.Context()))
			fine(t, behind.Release())
			// The handle is idle, and ready for the next request.
			fine(t, g.Request(r, resource.Read))
			fine(t, g.Cancel())
		})
	}
}
