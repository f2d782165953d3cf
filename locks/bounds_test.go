package locks_test

import (
	"testing"

	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/locks/explore"
)

var bounds = rings.Size("locks.bounds", 1, 99, 99, "TestBounds: how many comparisons of each lock")

// TestBounds lets a rank wait beside rivals that come as often as they can, or that the lock prefers, and counts those that
// overtake it. It is for the rows of the table that state a bound.
func TestBounds(t *testing.T) {
	rings.Computes(t)
	t.Parallel()
	for _, spec := range locks.All() {
		t.Run(spec.Name, func(t *testing.T) {
			t.Parallel()
			all := explore.Bounds(explore.Of(spec))
			for _, b := range all[:min(len(all), bounds.N())] {
				if got, err := b.Check(); err != nil {
					t.Errorf("%s: %v", b.Name, err)
				} else {
					t.Logf("%s: %d of %d to %d", b.Name, got, b.Least, b.Most)
				}
			}
		})
	}
}
