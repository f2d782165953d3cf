package rma

import (
	"github.com/orwl/go-orwl/internal/invariant"
	"github.com/orwl/go-orwl/net/topology"
)

// These stand for the words of the contract.
const (
	Sum = iota
	Replace
)

// Levels counts levels.
func Levels(l topology.Level) int {
	invariant.Check(l >= 0, "level %d", l)
	return int(l)
}
