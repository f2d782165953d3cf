package p2p

import "github.com/orwl/go-orwl/net/p2p/internal/loan"

// Memory hands out memory of a node that the other nodes of its machine can read where
// it is: what is sent from there, by [Node.Send] with keep set, is not even copied on
// its way. There is no need for it: bytes that lie elsewhere are copied once.
type Memory = loan.Memory

// Memory is the memory of the node.
func (n *Node) Memory() *Memory { return n.memory }

// openArena makes the arena of the node, unless it shares nothing.
func (n *Node) openArena() *loan.Arena {
	if n.machine == "" {
		return nil
	}
	a, err := loan.NewArena(n.options.Nodes)
	if err != nil {
		n.log.Debug("no memory to share with nodes of this machine", "why", err)
		return nil
	}
	if n.ctx.Err() != nil { // it is closed, so no node may map it
		a.Close()
	}
	return a
}
