package handle

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"go.uber.org/goleak"

	"github.com/orwl/go-orwl/resource"
)

var errFire = errors.New("the server is on fire")

// The context of a grant ends with the grant. Its cause tells how that ended.
func TestContext(t *testing.T) {
	defer goleak.VerifyNone(t)
	type key struct{}
	parent, stop := context.WithCancelCause(context.WithValue(context.Background(), key{}, "value"))
	defer stop(nil)
	for name, c := range map[string]struct {
		end  func(p *Pair, r *resource.Resource) error
		want []error
	}{
		"released": {func(p *Pair, _ *resource.Resource) error { return p.Handle.Release() }, []error{ErrReleased}},
		"next":     {func(p *Pair, _ *resource.Resource) error { return p.Next() }, []error{ErrReleased}},
		"pair":     {func(p *Pair, _ *resource.Resource) error { return p.Release() }, []error{ErrReleased}},
		"broken":   {func(_ *Pair, r *resource.Resource) error { r.Break(errFire); return nil }, []error{resource.ErrBroken, errFire}},
		"broken, then released": {func(p *Pair, r *resource.Resource) error { r.Break(errFire); return p.Next() },
			[]error{resource.ErrBroken, errFire}},
		"released, then broken": {func(p *Pair, r *resource.Resource) error { defer r.Break(errFire); return p.Next() },
			[]error{ErrReleased}},
		"vector cancelled": {func(p *Pair, _ *resource.Resource) error { return Vector{p}.Cancel() }, []error{ErrReleased}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newResource(t, 8)
			var p Pair
			fine(t, p.Request(r, resource.Read))
			fine(t, p.Acquire(context.Background()))
			ctx, err := p.Context(parent)
			fine(t, err)
			if again, err := p.Context(context.Background()); err != nil || again != ctx {
				t.Errorf("another context of the same grant, %v", err)
			}
			if ctx.Err() != nil || ctx.Value(key{}) != "value" {
				t.Errorf("at first: %v, value %v", ctx.Err(), ctx.Value(key{}))
			}
			fine(t, c.end(&p, r))
			if !errors.Is(ctx.Err(), context.Canceled) {
				t.Errorf("it has not ended: %v", ctx.Err())
			}
			cause := context.Cause(ctx)
			for _, want := range c.want {
				if !errors.Is(cause, want) {
					t.Errorf("ended for %v, want %v", cause, want)
				}
			}
			if errors.Is(cause, ErrReleased) && errors.Is(cause, resource.ErrBroken) {
				t.Errorf("ended for %v", cause)
			}
		})
	}
}

// strange is a context that package context can only watch by a goroutine.
type strange struct {
	context.Context
	done chan struct{}
}

func (s strange) Done() <-chan struct{} { return s.done }

// Each grant has its own context. A handle that does not hold gets none, and leaves no
// goroutine behind.
func TestContextOfEachGrant(t *testing.T) {
	defer goleak.VerifyNone(t)
	r := newResource(t, 8)
	var p Pair
	fine(t, p.Request(r, resource.Read))
	var last context.Context
	for range 3 {
		fine(t, p.Acquire(t.Context()))
		ctx, err := p.Context(t.Context())
		fine(t, err)
		if ctx == last || ctx.Err() != nil {
			t.Errorf("the context of the last grant, or an ended one: %v", ctx.Err())
		}
		last = ctx
		// Failed calls do not end it.
		if err := p.Cancel(); err == nil {
			t.Error("cancelled while held")
		}
		if err := p.Request(r, resource.Read); err == nil {
			t.Error("requested while held")
		}
		if ctx.Err() != nil {
			t.Errorf("ended by a failed call: %v", context.Cause(ctx))
		}
		fine(t, p.Next())
	}
	for range 2 { // not held
		if ctx, err := p.Context(strange{t.Context(), make(chan struct{})}); ctx != nil || !errors.Is(err, resource.ErrNotHeld) {
			t.Errorf("%v, %v, want ErrNotHeld", ctx, err)
		}
	}
}

// The end of the parent ends it. The context of a broken resource has ended at once.
func TestContextThatHasEnded(t *testing.T) {
	r := newResource(t, 8)
	h := holder(t, r)
	parent, stop := context.WithCancelCause(t.Context())
	ctx, err := h.Context(parent)
	fine(t, err)
	stop(errFire)
	if context.Cause(ctx) != errFire {
		t.Errorf("ended for %v", context.Cause(ctx))
	}
	fine(t, h.Release())

	h = holder(t, r)
	r.Break(errFire)
	ctx, err = h.Context(t.Context())
	if err != nil || !errors.Is(context.Cause(ctx), errFire) {
		t.Errorf("%v, ended for %v", err, context.Cause(ctx))
	}
	fine(t, h.Release())
}

// A goroutine that works under the grant sees its loss.
func TestContextOfAWorker(t *testing.T) {
	defer goleak.VerifyNone(t)
	synctest.Test(t, func(t *testing.T) {
		r := newResource(t, 8)
		h := holder(t, r)
		ctx, err := h.Context(t.Context())
		fine(t, err)
		got := make(chan error)
		go func() {
			<-ctx.Done()
			got <- context.Cause(ctx)
		}()
		synctest.Wait()
		r.Break(errFire)
		if err := <-got; !errors.Is(err, errFire) {
			t.Error(err)
		}
	})
}
