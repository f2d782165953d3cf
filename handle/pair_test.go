package handle

import (
	"errors"
	"testing"

	"github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/resource"
)

// A pair that releases and stops leaves no request behind: neither by Release, nor in a
// vector. The next one is granted, and the pair must request anew.
func TestReleasedPairLetsOthersIn(t *testing.T) {
	for name, last := range map[string]func(p *Pair) error{
		"release": func(p *Pair) error { return errors.Join(p.Acquire(ended()), p.Release()) },
		"vector":  func(p *Pair) error { return errors.Join(p.Acquire(ended()), Vector{p}.cancel()) },
	} {
		t.Run(name, func(t *testing.T) {
			r := newResource(t, 8)
			var p Pair
			fine(t, p.Request(r, queue.Write))
			fine(t, p.Acquire(ended()))
			fine(t, p.Next())
			fine(t, last(&p))
			free(t, r)
			if got := p.state(); got != isIdle {
				t.Errorf("the pair is %v, want idle", got)
			}
			if err := p.Acquire(ended()); !errors.Is(err, queue.ErrNotRequested) {
				t.Errorf("another turn: %v", err)
			}
			if err := p.Next(); !errors.Is(err, queue.ErrNotHeld) {
				t.Errorf("another turn: %v", err)
			}
		})
	}
}

// A deferred Abandon leaves the queue in whatever state a pair is.
func TestDeferredAbandonOfAPair(t *testing.T) {
	for name, c := range map[string]struct {
		steps func(p *Pair, r *resource.Resource) error
		state state
	}{
		"idle":    {func(*Pair, *resource.Resource) error { return nil }, isIdle},
		"waiting": {func(p *Pair, r *resource.Resource) error { return p.Request(r, queue.Read) }, isGranted},
		"holding": {func(p *Pair, r *resource.Resource) error {
			return errors.Join(p.Request(r, queue.Read), p.Acquire(ended()))
		}, isHeld},
		"after Next": {func(p *Pair, r *resource.Resource) error {
			return errors.Join(p.Request(r, queue.Read), p.Acquire(ended()), p.Next())
		}, isGranted},
		"after Release": {func(p *Pair, r *resource.Resource) error {
			return errors.Join(p.Request(r, queue.Read), p.Acquire(ended()), p.Release())
		}, isIdle},
	} {
		t.Run(name, func(t *testing.T) {
			r := newResource(t, 8)
			func() {
				var p Pair
				defer p.Abandon(errFire)
				fine(t, c.steps(&p, r))
				if got := p.state(); got != c.state {
					t.Errorf("%v, want %v", got, c.state)
				}
			}()
			free(t, r)
		})
	}
}
