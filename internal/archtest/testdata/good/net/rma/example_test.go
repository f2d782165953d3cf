package rma_test

import (
	"testing"

	"github.com/orwl/go-orwl/net/mem"
	"github.com/orwl/go-orwl/net/rma"
)

func TestLevels(t *testing.T) {
	if rma.Levels(1) != 1 || mem.Ranks() != 1 {
		t.Error("a test of the contract needs a world")
	}
}
