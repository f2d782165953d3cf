//go:build unix

package launch

import (
	"strings"
	"syscall"
	"time"
)

// comeback starts nodes again that have failed in a run that goes on:
//
//	in ──fails──▶ unplaced ──where all nodes are is known──▶ knocks ──says goOn──▶ in
//
// A process that knocks is ended when no node is in any more: there is no run to come back to.
type comeback struct {
	left     int          // how many processes may still be started for this
	at       []address    // where the nodes listen, in their last lives
	unplaced []*NodeError // how nodes have ended that are not started again yet
	retired  bool         // what knocks is to end
}

// again starts a node again, as soon as each node has said where it listens.
func (c *crew) again(failed *NodeError) {
	c.left--
	c.note("%v; it is started again, and the others go on", failed)
	c.unplaced = append(c.unplaced, failed)
	c.place()
}

// place starts the nodes that wait for addresses, if all are known and there is a run.
func (c *crew) place() {
	if len(c.unplaced) == 0 || c.failure != nil || !c.lives() {
		return
	}
	peers := make([]string, c.run.Nodes)
	for node, at := range c.at {
		if at == (address{}) {
			return
		}
		peers[node] = c.dialled(node, at).String()
	}
	failed := c.unplaced
	c.unplaced = nil
	for _, f := range failed {
		c.start(seated{node: f.Node, peers: strings.Join(peers, ",")}, f)
	}
}

// locate notes where a node listens.
func (c *crew) locate(m *member, at address) {
	c.at[m.node] = at
	c.place()
}

// isIn notes that a node is in the run.
func (c *crew) isIn(m *member) {
	if m.in {
		return
	}
	m.in = true
	c.note("launch: node %d has come back", m.node)
}

// lives reports whether a node is in the run.
func (c *crew) lives() bool {
	for _, m := range c.members {
		if m.in && !m.ended {
			return true
		}
	}
	return false
}

// retire ends what knocks at a run that is over.
func (c *crew) retire() {
	if c.running == 0 || c.retired || c.failure != nil || c.lives() {
		return
	}
	c.retired = true
	c.signal(syscall.SIGTERM)
	c.patience = time.After(c.run.Grace)
}
