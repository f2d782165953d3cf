package queue

import (
	"errors"
	"slices"
	"testing"
)

// TestHolder goes through the states of a task: in each, relaxed access is refused or
// allowed. A request whose Acquire is refused still stands.
func TestHolder(t *testing.T) {
	r, _ := hinged(t, "RMA-RW", RelaxedOptions{})
	other, _ := hinged(t, "RMA-RW", RelaxedOptions{})
	r.name, other.name = "r", "other"
	var p, q, foreign Place
	ctx := NewHolder("task", slices.Values([]*Place{&p, &q})).Context(background)
	leaf := func(when string, err error, want string) {
		t.Helper()
		var e *PlaceError
		if want == "" && err != nil || want != "" && (!errors.Is(err, ErrLeafRule) || !errors.As(err, &e) || err.Error() != want) {
			t.Errorf("%s: %v, want %q", when, err, want)
		}
	}
	const breaks = "breaks the leaf rule: task "
	fine(t, p.Request(r, Write))
	leaf("requested, before the first relaxed access", r.Open(ctx), `resource: open of "r" (read): `+breaks+`has requested "r", and the first relaxed access waits for that: make one before Run, or before the first request`)
	leaf("no request there", other.Open(ctx), "")
	fine(t, p.Acquire(ctx))
	leaf("held", r.ReadRelaxed(ctx, ignore), `resource: relaxed access of "r" (read): `+breaks+`holds an ordered grant of "r": release it first`)
	leaf("held elsewhere, and no request here", other.ReadRelaxed(ctx, ignore), "")
	fine(t, foreign.Request(other, Read))
	leaf("held elsewhere, and a request here", other.WriteRelaxed(ctx, ignore), `resource: relaxed access of "other" (write): `+breaks+`holds an ordered grant of "r": release it first`)
	fine(t, p.Release())
	leaf("nothing held", r.Open(ctx), "")
	fine(t, p.Request(r, Write))
	leaf("requested, after the first relaxed access", r.ReadRelaxed(ctx, ignore), "")

	first, err := r.Relaxed(ctx, Read)
	fine(t, err)
	second, err := other.Relaxed(ctx, Read)
	fine(t, err)
	second.Leave()
	wait := `resource: acquire of "r" (write): ` + breaks + `is inside a relaxed access of "r": leave it first`
	leaf("inside", p.Acquire(ctx), wait)
	leaf("inside, again", p.Acquire(ctx), wait)
	first.Leave()
	leaf("outside", p.Acquire(ctx), "")
	fine(t, q.Request(r, Write))
	in, err := other.Relaxed(background, Read)
	fine(t, err)
	in.Leave()
	fine(t, errors.Join(p.Release(), q.Acquire(ctx), q.Release(), foreign.Cancel()))
}
