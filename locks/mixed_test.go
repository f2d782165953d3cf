package locks_test

import (
	"testing"

	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/locks/explore"
)

// TestMixed plays every lock in all ways that a program may use it.
func TestMixed(t *testing.T) {
	rings.Computes(t)
	draw(t, seeds.Part(1, 2), explore.Mixed)
}
