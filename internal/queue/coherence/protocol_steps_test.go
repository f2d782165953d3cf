package coherence

import (
	"bytes"
	"encoding/binary"
	"slices"
)

// act does one thing.
func (c *chaos) act() {
	n := c.places[c.chance(4)]
	switch k := c.chance(100); {
	case k < 20:
		c.request(n)
	case k < 33:
		c.endOne(n, false)
	case k < 46:
		c.endOne(n, true)
	case k < 49:
		c.cancel(n)
	case k < 86:
		for link, tries := c.chance(6), 0; !c.deliver((link+tries)%6) && tries < 6; tries++ {
		}
	case k < 90:
		c.pump()
	case k < 91:
		c.writeOften()
	case k < 93:
		c.replay(n)
	case k < 95:
		c.comeLate()
	case k < 98:
		c.rejoin(n)
	default:
		c.breakSomething(n)
	}
}

// step is a step of a node's mirror.
func (c *chaos) step(n *model, do func(*Mirror, *Work) error) error {
	at := c.nodes[n.node]
	return c.protocol.atMirror(at, func(w *Work) error { return do(at.mirror, w) })
}

func (c *chaos) pump() {
	c.forgetKnown()
	c.protocol.pump()
}

// forgetKnown plants a flaw: the home does not remember what mirrors have.
func (c *chaos) forgetKnown() {
	if c.flaw == "no versions" {
		for _, p := range c.home.peers {
			p.known = 0
		}
	}
}

// freeID returns an ID that the node may use, or 0. There are few IDs, so that they
// return often.
func (c *chaos) freeID(n *model) ID {
	id := ID(1 + c.chance(5))
	_, asked := n.asked[id]
	_, holds := n.holds[id]
	if asked || holds || n.leaving[id] {
		return 0
	}
	return id
}

func (c *chaos) request(n *model) {
	id, mode := c.freeID(n), Mode(c.chance(2))
	if id == 0 || n.over || c.calm && len(c.queue.all) > c.chance(4) {
		return
	}
	c.note("%d requests %d %v", n.node, id, mode)
	n.asked[id], n.modes[id] = mode, mode
	if n.node == 0 {
		c.locally(func() { c.queue.request(id, mode) })
		return
	}
	err := c.step(n, func(r *Mirror, w *Work) error { return r.Request(id, mode, nil, w) })
	c.check(err == nil, "node %d requests %d: %v", n.node, id, err)
}

// endOne ends an access of a node, and requests again if renew is set.
func (c *chaos) endOne(n *model, renew bool) {
	ids := keys(n.holds)
	if len(ids) == 0 {
		return
	}
	a := Access{ID: ids[c.chance(len(ids))]}
	var next ID
	mode := Mode(c.chance(2))
	if renew {
		if next = c.freeID(n); next == 0 {
			return
		}
	}
	stamp := n.holds[a.ID]
	a.Fence = stamp.Fence
	memory := c.buffer
	if n.node > 0 {
		memory = c.nodes[n.node].buffer
	}
	c.check(bytes.Equal(memory.Bytes(), c.versions[stamp.Version]), "the bytes changed while %d of node %d had them", a.ID, n.node)
	var will commitment
	if n.modes[a.ID] == Write && c.chance(3) > 0 {
		will = c.write(memory, &a)
	}
	if n.node > 0 && !renew && c.chance(12) == 0 {
		a.Abandoned, will = true, commitment{}
		c.failed++
	}
	c.note("%d releases %+v, then %d", n.node, a, next)
	delete(n.holds, a.ID)
	if renew {
		n.asked[next], n.modes[next] = mode, mode
	}
	switch {
	case n.node > 0:
	case a.Wrote && !renew && c.chance(8) == 0:
		c.failAtHome(a.ID)
		return
	default:
		c.endAtHome(a, will, next, mode)
		return
	}
	switch {
	case a.Abandoned:
		if n.modes[a.ID] == Write {
			n.memory, n.unsure = 0, false
		}
	case a.Wrote:
		n.memory, n.unsure = stamp.Version+2, true
		will.outcome = new(outcome)
		n.write = will.outcome
	}
	if c.flaw == "all is dirty" && !a.Abandoned && n.modes[a.ID] == Write {
		a.Wrote = true
	}
	err := c.step(n, func(r *Mirror, w *Work) error {
		if renew {
			return r.Renew(a, next, mode, nil, w)
		}
		return r.Release(a, w)
	})
	c.check(err == nil, "node %d releases %d: %v", n.node, a.ID, err)
	if c.flaw == "forgets" {
		c.nodes[n.node].mirror.wrote = 0
	}
	m := &c.nodes[n.node].toHome[len(c.nodes[n.node].toHome)-1]
	c.check(len(m.Bytes) == will.moved, "%v moves %d bytes, want %d", m, len(m.Bytes), will.moved)
	c.written[written{uint64(m.Node), m.Incarnation, m.Seq}] = will
	if a.Wrote && !a.Abandoned && c.chance(3) == 0 {
		c.confirm(n)
	}
}

// write writes new bytes, at both ends of an access.
func (c *chaos) write(memory *Buffer, a *Access) (will commitment) {
	a.Wrote = true
	if c.chance(6) == 0 {
		_ = memory.Resize(8*(1+c.chance(8)) + c.chance(8))
	}
	size := len(memory.Bytes())
	for off := 8 * c.chance(size/8); off <= size-8; off += 8 * (1 + c.chance(3)) {
		c.stamps++
		binary.LittleEndian.PutUint64(memory.Bytes()[off:], c.stamps)
	}
	will.moved = size
	will.contents = slices.Clone(memory.Bytes())
	return will
}

func (c *chaos) endAtHome(a Access, will commitment, next ID, mode Mode) {
	if a.Wrote {
		c.commit(will)
	}
	c.locally(func() {
		if next != 0 {
			c.queue.renew(a.ID, next, mode)
		} else {
			c.queue.release(a.ID)
		}
	})
}

func (c *chaos) cancel(n *model) {
	ids := keys(n.asked)
	if len(ids) == 0 {
		return
	}
	id := ids[c.chance(len(ids))]
	c.note("%d cancels %d", n.node, id)
	if n.node == 0 {
		c.locally(func() {
			if c.queue.cancel(id) {
				delete(n.asked, id)
			}
		})
		return
	}
	err := c.step(n, func(r *Mirror, w *Work) error { return r.Cancel(id, w) })
	c.check(err == nil, "node %d cancels %d: %v", n.node, id, err)
	delete(n.asked, id)
	n.leaving[id] = true
}

// deliver lets the oldest message of one of the links arrive.
func (c *chaos) deliver(link int) bool {
	n := c.nodes[1+link/2]
	from := &n.toHome
	if link%2 == 1 {
		from = &n.toMirror
	}
	if len(*from) == 0 {
		return false
	}
	m := (*from)[0]
	*from = (*from)[1:]
	c.places[n.node].old[link%2] = m
	c.note("%d %v arrives, of life %d, on link %d", n.node, &m, m.Incarnation, link)
	if link%2 == 0 {
		c.arriveHome(&m)
	} else {
		c.arriveMirror(&m)
	}
	return true
}

// confirm has a node ask whether its last write is committed.
func (c *chaos) confirm(n *model) {
	c.note("%d asks for its last write", n.node)
	_ = c.step(n, func(r *Mirror, w *Work) error { r.Confirm(w); return nil })
}

// replay lets a message arrive again.
func (c *chaos) replay(n *model) {
	direction := c.chance(2)
	m := n.old[direction]
	if m.Kind == 0 {
		return
	}
	c.note("%d %v arrives again", n.node, &m)
	m = copied(&m)
	if direction == 0 {
		c.check(c.toHome(&m) != nil, "the home takes %v twice", &m)
	} else {
		c.check(c.toMirror(&m) != nil, "node %d takes %v twice", n.node, &m)
	}
}

// comeLate makes a place end an access that was over long ago.
func (c *chaos) comeLate() {
	if len(c.stale) == 0 {
		return
	}
	// The worst moment is when a request with the same ID is held again.
	at := slices.IndexFunc(c.stale, func(s tag) bool {
		_, again := c.places[s.node].holds[s.id]
		return again
	})
	if at < 0 {
		if c.chance(8) > 0 {
			return
		}
		at = c.chance(len(c.stale))
	}
	s := c.stale[at]
	c.stale = slices.Delete(c.stale, at, at+1)
	n := c.nodes[s.node]
	a := Access{ID: s.id, Fence: s.fence, Wrote: c.places[s.node].modes[s.id] == Write}
	if c.flaw == "no fence" {
		if _, q := n.mirror.requests.find(a.ID); q != nil {
			a.Fence = q.fence // whatever the fence is
		}
	}
	c.note("%d ends %+v, which is over", s.node, a)
	err := c.step(c.places[s.node], func(r *Mirror, w *Work) error { return r.Release(a, w) })
	c.late++
	c.check(err != nil || c.flaw == "no fence", "node %d ends %+v, which is over", s.node, a)
}

func keys[V any](m map[ID]V) []ID {
	ids := make([]ID, 0, len(m))
	for id := range m {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}
