package transport

import "testing"

// Bulk offers the processor once for each share while others talk, and not while it is
// alone, its own grants aside.
func TestCourtesy(t *testing.T) {
	var talk uint64
	offers := 0
	m := manners{talk: func() uint64 { return talk }, offer: func() { offers++ }}
	pass := func(stretches int, talked uint64, want int) {
		t.Helper()
		offers = 0
		for range stretches {
			talk += talked
			for range stretch >> 10 {
				m.passed(1 << 10)
			}
		}
		if offers != want {
			t.Errorf("%d stretches with %d frames beside each: %d offers, want %d", stretches, talked, offers, want)
		}
	}
	const each = stretch / courteousShare
	pass(10, 1, 0)
	pass(10, small, 0)
	pass(10, small+1, 9*each+1) // it finds out at the end of the first
	pass(1, 0, each-1)          // and again
	pass(10, 0, 0)
}
