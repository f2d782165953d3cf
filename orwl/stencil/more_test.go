package stencil

import (
	"testing"

	"github.com/orwl/go-orwl/internal/rings"
)

// TestMore runs the tests that have a larger budget for a change than for users.
func TestMore(t *testing.T) {
	rings.Needs(t, rings.Change)
	t.Run("Nodes", TestNodes)
}
