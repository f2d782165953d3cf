package coherence

import (
	"bytes"
	"errors"
	"slices"

	"github.com/orwl/go-orwl/internal/invariant"
)

// onQueueGrants notes which version a guest must get.
func (c *chaos) onQueueGrants(id ID) {
	if id&remote == 0 {
		return
	}
	if g := c.home.guests[id&^remote]; g.peer != nil {
		c.due[tag{node: g.peer.node, life: g.peer.incarnation, id: g.id}] = uint64(len(c.versions) - 1)
	}
}

// commit is the commit of a writer of the home's own node.
func (c *chaos) commit(will commitment) {
	c.ledger.Commit()
	c.versions = append(c.versions, will.contents)
	c.commits++
	c.prior = PriorReleased
	c.check(c.ledger.Version() == uint64(len(c.versions)-1), "version %d after %d commits", c.ledger.Version(), len(c.versions)-1)
}

// writeOften has the home's own node write several times while no other request waits.
func (c *chaos) writeOften() {
	if len(c.queue.all) > 0 || len(c.queue.news) > 0 {
		return
	}
	for range 1 + c.chance(10) {
		c.note("0 writes")
		c.ledger.Grant(Write)
		c.fence++
		will := c.write(c.buffer, new(Access))
		c.commit(will)
	}
}

// failAtHome is the end of a writer at the home that has failed: the bytes are half written.
func (c *chaos) failAtHome(id ID) {
	c.note("0 fails, and leaves %d", id)
	c.lostHolder(Write)
	c.ledger.Lose(Write)
	c.ledger.Poison()
	c.prior = PriorPoisoned
	c.versions = append(c.versions, slices.Clone(c.buffer.Bytes()))
	c.locally(func() { c.queue.release(id) })
}

// arriveHome gives the home a message, and compares the effect.
func (c *chaos) arriveHome(m *Message) {
	n := c.places[m.Node]
	c.forgetKnown()
	will := c.written[written{uint64(m.Node), m.Incarnation, m.Seq}]
	if m.Incarnation > n.life {
		c.dropped(n)
		n.life, n.lost = m.Incarnation, false
		n.has = m.Known
	}
	alive := m.Incarnation == n.life && !n.lost
	if alive {
		switch m.Kind {
		case ReleaseMessage:
			if m.Reason == Abandoned {
				c.lostHolder(n.told[m.ID])
				if n.told[m.ID] == Write {
					n.has = 0
				}
			}
			delete(n.told, m.ID)
		case RenewMessage:
			delete(n.told, m.Old)
		}
	}
	if alive && will.contents != nil {
		will.outcome.committed = true
		n.has = uint64(len(c.versions)) + 1
		// Before the step, because the step grants the next requests.
		c.versions = append(c.versions, will.contents)
		c.commits++
		c.prior = PriorReleased
	}
	if c.flaw == "lost write" && m.Wrote && c.chance(10) == 0 {
		m.Wrote = false
	}
	m.Swap = m.Wrote && c.chance(2) == 0
	err := c.toHome(m)
	clear(m.Bytes) // the transport uses the memory again
	if alive {
		c.check(err == nil, "the home does not take %v: %v", m, err)
	} else {
		c.check(errors.Is(err, ErrOtherLife), "the home takes %v of a life that is over: %v", m, err)
	}
	c.check(c.ledger.Version() == uint64(len(c.versions)-1), "version %d after %d writes", c.ledger.Version(), len(c.versions)-1)
	if will.contents != nil && alive {
		c.check(bytes.Equal(c.buffer.Bytes(), will.contents), "version %d is not what node %d wrote", c.ledger.Version(), n.node)
	}
}

// dropped is the effect of the loss of a life on the model.
func (c *chaos) dropped(n *model) {
	for _, id := range keys(n.told) {
		c.lostHolder(n.told[id])
	}
	n.told = make(map[ID]Mode)
}

// lostHolder is the effect of a holder that is lost, or has failed.
func (c *chaos) lostHolder(m Mode) {
	c.fence++
	if m == Write && c.prior != PriorPoisoned { // poison stays
		c.prior = PriorLost
	}
}

// onSent checks what the home sends, and what a mirror says that it has.
func (c *chaos) onSent(m *Message, toHome bool) {
	n := c.places[m.Node]
	if toHome && m.Seq == 1 {
		c.check(m.Known == n.memory, "%v, and node %d has v%d", m, m.Node, int64(n.memory)-1)
	}
	if toHome || m.Seq == 0 {
		return
	}
	if m.Kind != GrantMessage {
		return
	}
	version := uint64(len(c.versions))
	if m.Mode == Write {
		c.fence++
	}
	c.check(m.Version == version-1 && m.Fence == c.fence && m.Prior == c.prior, "%v, want v%d fence=%d (%v)", m, version-1, c.fence, c.prior)
	if m.Mode == Write && c.prior == PriorLost {
		c.prior = PriorReleased
	}
	for _, id := range m.IDs {
		n.told[id] = m.Mode
	}
	if n.has == version {
		c.check(!m.Whole && len(m.Bytes) == 0, "%v brings what node %d has", m, m.Node)
		return
	}
	c.check(m.Whole && bytes.Equal(m.Bytes, c.versions[version-1]), "%v brings %x, want %x", m, m.Bytes, c.versions[version-1])
	n.has = version
}

// arriveMirror gives a mirror a message.
func (c *chaos) arriveMirror(m *Message) {
	n := c.places[m.Node]
	alive := m.Incarnation == n.joined && !n.over
	if alive && m.Whole && n.life == n.joined && n.lost && c.chance(2) == 0 {
		c.arriveChanged(n, m)
		return
	}
	if alive && m.Kind == RefusedMessage {
		delete(n.leaving, m.ID)
	}
	given := m.Kind == GrantMessage
	if alive && given && m.Whole {
		n.memory = m.Version + 1
	}
	if alive && given {
		n.unsure = false
		for _, id := range m.IDs {
			delete(n.leaving, id)
		}
	}
	ends := alive && m.Seq == 0
	if alive && m.Kind == ConfirmedMessage && c.flaw == "late answer" {
		m.Fence = c.nodes[n.node].mirror.wrote
	}
	m.Swap = given && m.Whole && c.chance(2) == 0
	if c.chance(2) == 0 {
		m.Valid = func() bool { return true }
	}
	err := c.toMirror(m)
	clear(m.Bytes) // the transport uses the memory again
	if n.write != nil && c.nodes[n.node].mirror.Unconfirmed() == 0 {
		c.check(n.write.committed, "node %d takes its write for committed by %v", n.node, m)
		n.write, n.unsure = nil, false
		if m.Kind == ConfirmedMessage {
			c.confirmed++
		}
	}
	switch {
	case ends:
		c.check(errors.Is(err, ErrEnded), "%v leads to %v", m, err)
		c.nodeOver(n)
	case alive:
		c.check(err == nil, "node %d does not take %v: %v", n.node, m, err)
	default:
		c.check(errors.Is(err, ErrOtherLife), "node %d takes %v of a life that is over: %v", n.node, m, err)
	}
}

// arriveChanged gives a mirror a message of a home that has given up its life, and has
// changed the bytes since it sent them. The later messages are gone, except for the end of the
// life.
func (c *chaos) arriveChanged(n *model, m *Message) {
	m.Valid = func() bool { return false }
	err := c.toMirror(m)
	c.check(errors.Is(err, ErrOtherLife), "node %d takes %v, which has changed: %v", n.node, m, err)
	n.memory, n.unsure, n.old[1] = 0, false, Message{}
	link := c.nodes[n.node]
	link.toMirror = slices.DeleteFunc(link.toMirror, func(m Message) bool { return m.Seq > 0 })
}

func (c *chaos) onGranted(node Node, id ID, s Stamp) {
	n := c.places[node]
	mode, asked := n.asked[id]
	c.check(asked, "node %d is granted %d, and did not ask", node, id)
	memory := c.buffer
	if node == 0 {
		// Only the line is between the home and its own places.
		if mode == Write {
			c.fence++
		}
		c.check(s.Prior == c.prior && s.Fence == c.fence, "the home's own %d is stamped %v, want fence %d, %v", id, s, c.fence, c.prior)
		if mode == Write && c.prior == PriorLost {
			c.prior = PriorReleased
		}
		c.check(s.Version == uint64(len(c.versions)-1), "the home's own %d has v%d of %d", id, s.Version, len(c.versions)-1)
	} else {
		memory = c.nodes[node].buffer
		t := tag{node: node, life: n.joined, id: id}
		c.check(s.Version == c.due[t], "node %d's %d has v%d, its place in the line gives it v%d", node, id, s.Version, c.due[t])
	}
	c.check(bytes.Equal(memory.Bytes(), c.versions[s.Version]), "node %d's %d sees %x, v%d is %x", node, id, memory.Bytes(), s.Version, c.versions[s.Version])
	if n.life == n.joined && !n.lost || node == 0 {
		for _, other := range c.places {
			if other.node == 0 || other.life == other.joined && !other.lost {
				for held := range other.holds {
					c.check(mode == Read && other.modes[held] == Read, "node %d's %d is in beside node %d's %d", node, id, other.node, held)
				}
			}
		}
	}
	delete(n.asked, id)
	n.holds[id] = s
	c.served++
}

func (c *chaos) onEnded(node Node, id ID, err error) {
	n := c.places[node]
	_, asked := n.asked[id]
	_, holds := n.holds[id]
	c.check(asked || holds, "node %d's %d is over, and was not there: %v", node, id, err)
	delete(n.asked, id)
	if holds {
		c.stale = append(c.stale, tag{node, n.joined, id, n.holds[id].Fence})
		if n.modes[id] == Write {
			n.memory = 0
		}
		delete(n.holds, id)
	}
}

// onWriteLost checks a report of a write that may be lost.
func (c *chaos) onWriteLost(node Node, err error) {
	n := c.places[node]
	c.check(n.write != nil, "node %d is told that a write may be lost, and all are known: %v", node, err)
	c.lost++
	invariant.Sometimes(n.write.committed, "a lost write is reported, and committed all the same")
	if !n.write.committed {
		c.gone++
	}
	n.write = nil
}

// nodeOver ends a life of the node in the model.
func (c *chaos) nodeOver(n *model) {
	c.check(len(n.asked) == 0 && len(n.holds) == 0, "node %d: %v wait and %v hold when it is over", n.node, n.asked, n.holds)
	c.check(n.write == nil, "node %d has released a write, and is not told what became of it", n.node)
	if n.unsure {
		n.memory, n.unsure = 0, false
	}
	n.over = true
	n.clear()
}
