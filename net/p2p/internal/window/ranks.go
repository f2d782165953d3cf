package window

import (
	"errors"
	"fmt"

	"github.com/orwl/go-orwl/net/p2p/internal/lane"
	"github.com/orwl/go-orwl/net/rma"
)

// Which node a rank is on, by a list of the nodes of all ranks, and what that makes of
// the loss of a node.

// mine is why a rank is not one of a node, by the nodes that ranks are at; or nil.
func mine(p rma.Rank, at []int, node int) error {
	switch {
	case uint(p) >= uint(len(at)):
		return &rma.RankError{Rank: p, Ranks: len(at), Why: "ranks count from 0"}
	case at[p] != node:
		return &rma.RankError{Rank: p, Ranks: len(at), Why: fmt.Sprintf("it lives on node %d, this is node %d", at[p], node)}
	}
	return nil
}

// errGoneFrom is the failure because of a node that has closed its fabric, p being the
// first of its ranks.
func errGoneFrom(p rma.Rank, peer int) error {
	return fmt.Errorf("%w: %w", &rma.PeerLostError{Rank: p, Why: fmt.Sprintf("node %d has left", peer)}, rma.ErrClosed)
}

// lossOf is the failure because of a node that is lost, or has left; nil if it has no
// ranks.
func lossOf(peer int, at []int, why error) error {
	p := firstOf(peer, at)
	switch {
	case p < 0:
		return nil
	case errors.Is(why, lane.ErrLeft):
		return errGoneFrom(p, peer)
	}
	return &rma.PeerLostError{Rank: p, Why: why.Error()}
}

// firstOf is the first rank of a node, or -1.
func firstOf(node int, at []int) rma.Rank {
	for p, home := range at {
		if home == node {
			return rma.Rank(p)
		}
	}
	return -1
}
