package versions

import (
	"encoding/binary"
	"slices"
)

// clone is a copy of a state. Nothing that changes is shared.
func (c *cluster) clone(s *world) *world {
	n := &world{
		at: slices.Clone(s.at), turns: slices.Clone(s.turns), held: slices.Clone(s.held), ended: slices.Clone(s.ended),
		lanes: make([]message, len(s.lanes)), known: make([][]uint32, len(s.known)), copies: make([][]*words, len(s.copies)),
	}
	for i, m := range s.lanes {
		n.lanes[i] = message{m.from, m.to, m.header, slices.Clone(m.bulk)}
	}
	for x := range s.nodes {
		n.known[x] = slices.Clone(s.known[x])
		for _, m := range s.copies[x] {
			n.copies[x] = append(n.copies[x], &words{slices.Clone(m.b)})
		}
		n.nodes = append(n.nodes, s.nodes[x].clone(n.copies[x]))
	}
	return n
}

// clone is a copy of a node with other copies of the bytes.
func (n *Node) clone(copies []*words) *Node {
	c := &Node{o: n.o, uses: slices.Clone(n.uses), listeners: n.listeners, resources: make([]*resource, len(n.resources)), boxes: make([]outbox, len(n.boxes)), limits: n.limits}
	c.absent.Store(n.absent.Load())
	c.writers.Store(n.writers.Load())
	links := make(map[*link]*link)
	for i, r := range n.resources {
		if r == nil {
			continue
		}
		d := &resource{number: r.number, home: r.home, uses: r.uses, version: r.version, size: r.size, rests: slices.Clone(r.rests)}
		d.copy = Copy{copies[i], r.copy.Zero}
		for _, l := range r.links {
			m := &link{
				resource: d, to: l.to, box: &c.boxes[l.to], waits: l.waits, base: l.base, version: l.version, size: l.size, writes: l.writes, idle: l.idle,
				changed: spans{slices.Clone(l.changed.all)}, buffer: slices.Clone(l.buffer), reports: slices.Clone(l.reports),
				inFlight: l.inFlight, n: l.n, sent: l.sent, answer: l.answer, queued: l.queued,
			}
			links[l] = m
			d.links = append(d.links, m)
		}
		for _, k := range r.early {
			e := k.entry
			e.resource, e.link = d, links[k.link]
			e.reports, e.spans, e.bytes = slices.Clone(e.reports), slices.Clone(e.spans), slices.Clone(e.bytes)
			d.early = append(d.early, kept{e, k.used})
		}
		c.resources[i] = d
	}
	for to := range n.boxes {
		b, d := &n.boxes[to], &c.boxes[to]
		d.credits, d.due, d.named = slices.Clone(b.credits), slices.Clone(b.due), b.named
		for _, l := range b.ready {
			d.ready = append(d.ready, links[l])
		}
	}
	return c
}

// key is all of a state that matters.
func (c *cluster) key(s *world) string {
	k := make(key, 0, 2048)
	for _, n := range s.at {
		k.number(n)
	}
	for _, n := range s.turns {
		k.number(n)
	}
	for _, held := range s.held {
		k.bit(held)
	}
	for _, ended := range s.ended {
		k.bit(ended)
	}
	for x, n := range s.nodes {
		for _, round := range s.known[x] {
			k.number(int(round))
		}
		for _, m := range s.copies[x] {
			k.bytes(m.b)
		}
		k.node(n)
	}
	for _, m := range s.lanes {
		k.number(m.from)
		k.number(m.to)
		k.bytes(m.header)
		k.bytes(m.bulk)
	}
	return string(k)
}

type key []byte

func (k *key) number(n int) { *k = binary.AppendUvarint(*k, uint64(n)) }

func (k *key) bit(b bool) {
	if b {
		k.number(1)
	} else {
		k.number(0)
	}
}

func (k *key) bytes(b []byte) {
	k.number(len(b))
	*k = append(*k, b...)
}

func (k *key) list(reports []report, spans []Span) {
	k.number(len(reports))
	for _, h := range reports {
		k.number(int(h.position))
		k.number(int(h.round))
		k.number(int(h.state))
	}
	k.number(len(spans))
	for _, s := range spans {
		k.number(s.Off)
		k.number(s.Len)
	}
}

func (k *key) node(n *Node) {
	for _, r := range n.resources {
		if r == nil {
			continue
		}
		k.number(int(r.version))
		k.number(r.size)
		for _, rests := range r.rests {
			k.bit(rests)
		}
		for _, e := range r.early {
			if k.bit(e.used); e.used {
				k.number(int(e.base))
				k.list(e.reports, e.spans)
				k.bytes(e.entry.bytes)
			}
		}
		for _, l := range r.links {
			for _, v := range l.inFlight[:l.n] {
				k.number(int(v))
			}
			k.number(int(l.sent))
			k.number(int(l.answer))
			if k.bit(l.waits); l.waits {
				k.number(int(l.base))
				k.number(int(l.version))
				k.number(l.size)
				k.list(l.reports, l.changed.all)
				for _, s := range l.changed.all {
					k.bytes(l.buffer[s.Off : s.Off+s.Len])
				}
			}
		}
	}
	for i := range n.boxes {
		box := &n.boxes[i]
		for _, c := range box.credits {
			k.number(int(c.round))
			k.bit(c.ended)
		}
		for _, due := range box.due {
			k.number(int(due) + 1)
		}
		k.bit(box.named)
		for _, l := range box.ready {
			k.number(l.resource.number + 1)
		}
	}
}
