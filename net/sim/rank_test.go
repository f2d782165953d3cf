package sim

import (
	"testing"

	"github.com/orwl/go-orwl/net/rma"
)

// A rank remembers the targets to which something is in flight, and no other: a run may have many ranks.
func TestAirways(t *testing.T) {
	r := &rank{}
	flies := func(want ...int) {
		t.Helper()
		total, targets := 0, 0
		for target, n := range want {
			if got := r.airborne(&request{kind: opFlush, target: rma.Rank(target)}); got != n {
				t.Errorf("%d operations to rank %d are in flight, want %d", got, target, n)
			}
			if total += n; n > 0 {
				targets++
			}
		}
		if got := r.airborne(&request{kind: opFlushAll}); got != total || len(r.flying) != targets {
			t.Errorf("%d operations to %d targets are in flight, want %d to %d", got, len(r.flying), total, targets)
		}
	}
	flies(0, 0, 0)
	for _, target := range []rma.Rank{2, 0, 2, 1} {
		r.fly(target)
	}
	flies(1, 1, 2)
	r.land(2)
	flies(1, 1, 1)
	r.land(2)
	flies(1, 1, 0)
	r.land(0)
	flies(0, 1, 0)
	r.land(1)
	flies(0, 0, 0)
}
