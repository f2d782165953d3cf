package p2p

import (
	"bytes"
	"fmt"
	"maps"

	"github.com/orwl/go-orwl/net/node"
)

// Receiver takes the parcels of a channel. It is called by several goroutines at a
// time, one for each lane of each node, and must not wait for anything that another
// parcel brings.
type Receiver = node.Receiver

// heldParcel is one that came before its receiver.
type heldParcel struct {
	from         int
	header, bulk []byte
}

// mostHeld is how many bytes of one node are held for receivers that are still to come.
const mostHeld = 4 << 20

// Receive sets the receiver of a channel, from 1 up. Those that came before
// are handed over first. It is called once for each channel.
func (n *Node) Receive(channel uint64, r Receiver) error {
	if channel == ownChannel || r.Take == nil {
		return fmt.Errorf("p2p: Receive of channel %d, want 1 or above, and Take", channel)
	}
	for {
		n.mu.Lock()
		parcels := n.held[channel]
		if len(parcels) == 0 {
			break
		}
		n.held[channel] = nil
		n.mu.Unlock()
		for _, p := range parcels {
			n.deliverHeld(r, p)
		}
	}
	defer n.mu.Unlock()
	old := *n.receivers.Load()
	if _, taken := old[channel]; taken {
		return fmt.Errorf("p2p: Receive of channel %d, which has a receiver: use another number", channel)
	}
	delete(n.held, channel)
	receivers := maps.Clone(old)
	receivers[channel] = r
	n.receivers.Store(&receivers)
	return nil
}

func (n *Node) deliverHeld(r Receiver, p heldParcel) {
	n.mu.Lock()
	n.heldBytes[p.from] -= len(p.header) + len(p.bulk)
	n.mu.Unlock()
	if err := r.Take(p.from, p.header, p.bulk); err != nil && p.from != n.number {
		n.counts.Malformed.Add(1)
		n.peer(p.from).Misbehaved(err)
	}
}

// receiver is the receiver of a channel.
func (n *Node) receiver(channel uint64) (Receiver, bool) {
	r, ok := (*n.receivers.Load())[channel]
	return r, ok
}

// hold keeps a parcel whose receiver is not known, or was not a moment ago.
func (n *Node) hold(from int, channel uint64, header, bulk []byte) error {
	n.mu.Lock()
	if r, ok := n.receiver(channel); ok {
		n.mu.Unlock()
		return r.Take(from, header, bulk)
	}
	defer n.mu.Unlock()
	size := len(header) + len(bulk)
	if n.heldBytes[from]+size > mostHeld || len(n.held[channel]) >= mostHeld/64 {
		return protocolError("parcels for channel %d, which nobody receives", channel)
	}
	n.heldBytes[from] += size
	n.held[channel] = append(n.held[channel], heldParcel{from, bytes.Clone(header), bytes.Clone(bulk)})
	return nil
}

// sendSelf delivers a parcel of this node to itself.
func (n *Node) sendSelf(channel uint64, header, bulk []byte) {
	n.own.put(func() {
		var err error
		if r, ok := n.receiver(channel); ok {
			err = r.Take(n.number, header, bulk)
		} else {
			err = n.hold(n.number, channel, header, bulk)
		}
		if err != nil {
			n.counts.Malformed.Add(1)
			n.log.Warn("parcel of this node to itself not taken", "channel", channel, "why", err)
		}
	})
}

// inbox is the receivers of a node, for its lanes.
type inbox struct{ *Node }

// Receiver implements lane.Parcels.
func (i inbox) Receiver(channel uint64) (Receiver, bool) { return i.receiver(channel) }

// Hold implements lane.Parcels.
func (i inbox) Hold(from int, channel uint64, header, bulk []byte) error {
	return i.hold(from, channel, header, bulk)
}
