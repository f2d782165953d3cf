package handle

import (
	"context"
	"errors"
	"testing"

	"github.com/orwl/go-orwl/resource"
)

// A pair that releases and stops leaves no request behind: neither by Release, nor in a
// vector, nor by a Section. The next one is granted, and the pair must request anew.
func TestReleasedPairLetsOthersIn(t *testing.T) {
	for name, last := range map[string]func(p *Pair) error{
		"release": func(p *Pair) error { return errors.Join(p.Acquire(ended()), p.Release()) },
		"vector":  func(p *Pair) error { return errors.Join(p.Acquire(ended()), Vector{p}.Release()) },
		"section": func(p *Pair) error { return Section(context.Background(), p, func() error { return nil }) },
	} {
		t.Run(name, func(t *testing.T) {
			r := newResource(t, 8)
			var p Pair
			fine(t, p.Request(r, resource.Write))
			fine(t, p.Acquire(ended()))
			fine(t, p.Next())
			fine(t, last(&p))
			free(t, r)
			if got := p.Test(); got != Idle || p.Iteration() != 2 {
				t.Errorf("the pair is %v in iteration %d, want idle in 2", got, p.Iteration())
			}
			if err := p.Acquire(ended()); !errors.Is(err, resource.ErrNotRequested) {
				t.Errorf("another turn: %v", err)
			}
			if err := p.Next(); !errors.Is(err, resource.ErrNotHeld) {
				t.Errorf("another turn: %v", err)
			}
		})
	}
}

// A deferred Abandon leaves the queue in whatever state a pair is.
func TestDeferredAbandonOfAPair(t *testing.T) {
	for name, c := range map[string]struct {
		steps func(p *Pair, r *resource.Resource) error
		state State
	}{
		"idle":    {func(*Pair, *resource.Resource) error { return nil }, Idle},
		"waiting": {func(p *Pair, r *resource.Resource) error { return p.Request(r, resource.Read) }, Granted},
		"holding": {func(p *Pair, r *resource.Resource) error {
			return errors.Join(p.Request(r, resource.Read), p.Acquire(ended()))
		}, Held},
		"after Next": {func(p *Pair, r *resource.Resource) error {
			return errors.Join(p.Request(r, resource.Read), p.Acquire(ended()), p.Next())
		}, Granted},
		"after Release": {func(p *Pair, r *resource.Resource) error {
			return errors.Join(p.Request(r, resource.Read), p.Acquire(ended()), p.Release())
		}, Idle},
	} {
		t.Run(name, func(t *testing.T) {
			r := newResource(t, 8)
			func() {
				var p Pair
				defer p.Abandon(errFire)
				fine(t, c.steps(&p, r))
				if got := p.Test(); got != c.state {
					t.Errorf("%v, want %v", got, c.state)
				}
			}()
			free(t, r)
		})
	}
}
