package p2p

import (
	"bytes"
	"fmt"
	"maps"
)

// Receiver takes the parcels of a channel. It is called by several goroutines at a
// time, one for each lane of each node, and must not wait for anything that another
// parcel brings.
type Receiver struct {
	// Take takes a parcel. What it is given is good until it returns. An error says
	// that no correct node sends such a thing: it is counted, and the stream closed.
	Take func(from int, header, bulk []byte) error
	// TakeLent, if not nil, takes a parcel whose bulk lies in memory of the other node,
	// instead of Take, which is given a copy. Whoever has made its own copy asks
	// valid, before anybody sees it, whether it is what was sent: it may not be if
	// the other node has given this one up.
	TakeLent func(from int, header, bulk []byte, valid func() bool) error
	// Swap, if not nil, takes a parcel with much bulk, instead of Take. It may keep the
	// memory that the bulk is in, and return other memory of the same size for it,
	// that nobody uses any more, or nil; else it returns bulk.
	Swap func(from int, header, bulk []byte) (other []byte, err error)
}

// heldParcel is one that came before its receiver.
type heldParcel struct {
	from         int
	header, bulk []byte
}

// mostHeld is how many bytes of one node are held for receivers that are still to come.
const mostHeld = 4 << 20

// Receive says who takes the parcels of a channel, from 1 up. Those that came before
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
		n.peers[p.from].misbehaved(err)
	}
}

// receiver is who takes the parcels of a channel.
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
