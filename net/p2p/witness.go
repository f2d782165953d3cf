package p2p

import "github.com/orwl/go-orwl/net/p2p/internal/loan"

// neighbour is a lease.Witness of a peer whose arena this node maps.
type neighbour struct {
	*peer
	arena *loan.Mapping
}

// witness is how this node sees the peer's process, if the launcher vouches for it.
func (p *peer) witness() (neighbour, bool) {
	m := p.mapping.Load()
	return neighbour{p, m}, m != nil && p.node.options.Launched
}

func (n neighbour) Now() int64                { return n.node.now() }
func (n neighbour) Condition() loan.Condition { return n.arena.Condition() }

func (n neighbour) Give(notice bool) {
	if a := n.node.memory.Arena(); a != nil { // without an arena the peer has no promise
		a.Notify(n.number, notice)
	}
}

// kept reports whether a peer that sends no echo keeps its word that it gives
// this node notice first, and has given none.
func (p *peer) kept() bool { return p.promised() && p.fate() == nil }

// promised is the same for a peer that may have ended.
func (p *peer) promised() bool {
	m := p.mapping.Load()
	return p.promises.Load() && m != nil && m.Keeps()
}
