package handle_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/orwl/go-orwl/handle"
	"github.com/orwl/go-orwl/resource"
)

// Pairs end their turns at once, as each would alone. If one fails, those before it have gone on.
func TestPairs(t *testing.T) {
	r, _, _ := resourceOf(t, false)
	var p, q handle.Pair
	must(t, p.Request(r, resource.Read))
	must(t, q.Announce(r, resource.Read, time.Now))
	v := handle.PairsOf([]*handle.Pair{&p, &q})
	must(t, p.Acquire(t.Context()))
	must(t, q.Acquire(t.Context()))
	ctx, err := p.Context(t.Context())
	must(t, err)
	before, err := q.Ready()
	must(t, err)
	must(t, v.NextBy(nil))
	if after, err := q.Ready(); err != nil || after == before {
		t.Errorf("the next access is not announced: %v", err)
	}
	if why := context.Cause(ctx); !errors.Is(why, handle.ErrReleased) {
		t.Errorf("the context of the turn has ended by %v", why)
	}
	if v.Places()[0] != p.Place() || v.Places()[1] != q.Place() {
		t.Error("the places are not those of the pairs")
	}
	must(t, p.Acquire(t.Context()))
	if err := v.NextBy(nil); !errors.Is(err, resource.ErrNotHeld) {
		t.Errorf("a pair that does not hold has ended its turn: %v", err)
	}
	if p.Iteration() != 2 || q.Iteration() != 1 {
		t.Errorf("%d and %d turns have ended, want 2 and 1", p.Iteration(), q.Iteration())
	}
}
