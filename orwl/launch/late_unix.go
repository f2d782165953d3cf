//go:build unix

package launch

import (
	"slices"
	"strings"
	"syscall"
	"time"
)

// latecomers are nodes that come late: those that have failed in a run that goes on, and those that
// did not begin.
//
//	in ──fails──▶ unplaced ──where all nodes are is known──▶ asks ──says goOn──▶ in
//	free ──grow──▶ unplaced
//
// When no node is in any more, processes that ask are ended: there is no run to come to.
type latecomers struct {
	left     int       // how many processes may still be started in the place of others
	started  int       // numbers that are not free
	at       []address // where the nodes listen, in their last lives
	unplaced []latecomer
	retired  bool // a process that asks must end
}

// latecomer is a node that is not started yet. before is how its life before has ended, or nil.
type latecomer struct {
	node   int
	before *NodeError
}

// again starts a node again, as soon as each node has said where it listens.
func (c *crew) again(failed *NodeError) {
	c.left--
	c.note("%v; it is started again, and the others go on", failed)
	c.unplaced = append(c.unplaced, latecomer{failed.Node, failed})
	c.place()
}

// grow starts the node of the next free number, as again does.
func (c *crew) grow() {
	if c.started == c.run.Nodes {
		c.note("launch: all %d nodes have been started", c.run.Nodes)
		return
	}
	c.unplaced = append(c.unplaced, latecomer{node: c.started})
	c.started++
	c.place()
}

// place starts the nodes that wait for addresses, if all are known and there is a run.
func (c *crew) place() {
	if len(c.unplaced) == 0 || c.failure != nil || !c.lives() {
		return
	}
	peers := make([]string, c.run.Nodes)
	for node, at := range c.at {
		switch {
		case at != address{}:
			peers[node] = c.dialled(node, at).String()
		case c.expects(node):
			return
		}
	}
	unplaced := c.unplaced
	c.unplaced = nil
	for _, w := range unplaced {
		c.start(seated{node: w.node, peers: strings.Join(peers, ",")}, w.before)
	}
}

// expects reports whether a process runs that has this number.
func (c *crew) expects(node int) bool {
	return slices.ContainsFunc(c.members, func(m *member) bool { return m.node == node && !m.ended })
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
	if m.before == nil {
		c.note("launch: node %d has come", m.node)
	} else {
		c.note("launch: node %d has come back", m.node)
	}
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

// retire ends processes that ask to join a run that is over.
func (c *crew) retire() {
	if c.running == 0 || c.retired || c.failure != nil || c.lives() {
		return
	}
	c.retired = true
	c.signal(syscall.SIGTERM)
	c.patience = time.After(c.run.Grace)
}
