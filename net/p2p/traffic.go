package p2p

import "github.com/orwl/go-orwl/net/node"

// Traffic is what went over a node's lanes, by kind of frame.
type Traffic = node.Traffic

// Flow is how much of one kind went one way.
type Flow = node.Flow

// Counts are what has happened to a node's streams. They may be read at any time.
type Counts = node.Counts

// Counts are the node's, or the ones that its Options gave it.
func (n *Node) Counts() *Counts { return n.counts }

// Traffic adds up what went over all lanes of the node so far.
func (n *Node) Traffic() (t Traffic) {
	for _, p := range n.all() {
		if p == nil {
			continue
		}
		for kind := range p.lanes {
			p.lanes[kind].AddTo(&t)
		}
	}
	return t
}

// OnTrip has f called for each heartbeat of this node that another one echoes, with
// how long it was on its way there and back; the time for which the other has kept
// it does not count. f must not wait.
func (n *Node) OnTrip(f func(nanoseconds int64)) { n.trip.Store(&f) }
