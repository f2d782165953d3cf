package locks_test

import (
	"strings"
	"testing"

	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/locks/lockstest"
)

var bounds = rings.Size("locks.bounds", 1, 3, 3, "TestBounds: how many of its comparisons, of three")

// TestBounds lets a rank wait beside ranks that come as often as they can, and counts those that
// overtake it. It is for the rows of the table that state a bound. Beside its neighbours and
// strangers each overtakes it once at most. If only strangers come, a FIFO lock lets each of them
// overtake it once, and the others as many as T_L or Batch says.
//
// A bound between readers and writers, or between two priorities, is TestPatience's. The bound of
// a queue behind a spin lock is TestHeadLosesPatience's.
func TestBounds(t *testing.T) {
	rings.Computes(t)
	t.Parallel()
	const strangers, all = 4, 7
	for _, spec := range locks.All() {
		if strings.Contains(spec.Fairness, "none") || strings.HasPrefix(spec.Name, "P-") || strings.HasPrefix(spec.Name, "C-RW-") {
			continue
		}
		t.Run(spec.Name, func(t *testing.T) {
			t.Parallel()
			tree := machine(t, "node:2 core:4")
			overtake := func(n int, apart bool) int {
				o := lockstest.Thresholds{TL: n, TR: n, TW: n}.Options(spec, tree)
				o.Operations, o.Hysteresis = true, 0
				return rivals{
					lock: spec.Name, machine: tree.String(), options: o, turns: 8, section: 1 << 17, apart: apart,
					rival: acquire, release: release, waiter: acquire, done: release,
				}.overtake(t)
			}
			for _, n := range []int{2, 9}[:min(2, bounds.N())] {
				least, most := n-1, n
				switch {
				case spec.FIFO, spec.Name == "HCLH": // no option
					least, most = strangers-1, strangers
				case spec.Name == "CNA": // those that are in the queue before the rank, too
					most = max(strangers, n)
				}
				if got := overtake(n, true); got < least || got > most {
					t.Errorf("with a bound of %d, %d strangers overtake, want %d to %d", n, got, least, most)
				}
			}
			if bounds.N() < 3 {
				return
			}
			if got := overtake(2, false); got > all {
				t.Errorf("%d of %d ranks overtake", got, all)
			}
		})
	}
}
