package coherence

import (
	"bytes"
	"slices"
)

// The model of the chaos knows the changes of each version, and so the bytes that a grant may bring.

// commit is the commit of a writer of the home's own node.
func (c *chaos) commit(will commitment) {
	c.ledger.Commit()
	c.ledger.Changed(will.named, len(c.buffer.Bytes()))
	c.adds(will.contents, will.named)
	c.commits++
	c.prior = PriorReleased
	c.check(c.ledger.Version() == uint64(len(c.versions)-1), "version %d after %d commits", c.ledger.Version(), len(c.versions)-1)
}

// writeOften has the home's own node write several times while no other request waits.
func (c *chaos) writeOften() {
	if len(c.queue.all) > 0 || len(c.queue.news) > 0 {
		return
	}
	for range 1 + c.chance(mostKept+2) {
		c.note("0 writes")
		c.ledger.Grant(Write)
		c.fence++
		will := c.write(c.buffer, new(Access))
		c.commit(will)
	}
}

// adds adds a version to the model. Until a mirror has one, the home keeps no changes.
func (c *chaos) adds(contents []byte, named []Span) {
	if !c.shared {
		named = nil
	}
	c.versions, c.named = append(c.versions, contents), append(c.named, named)
}

// failAtHome is the end of a writer at the home that has failed: the bytes are half written.
func (c *chaos) failAtHome(id ID) {
	c.note("0 fails, and leaves %d", id)
	c.lostHolder(Write)
	c.ledger.Lose(Write)
	c.ledger.Poison()
	c.prior = PriorPoisoned
	c.adds(slices.Clone(c.buffer.Bytes()), nil)
	c.locally(func() { c.queue.release(id) })
}

// changed is how many bytes the versions up to last have changed since the one before known, and whether
// they may go alone: each of them is named, they are not too many, and they are less than half.
func (c *chaos) changed(known, last uint64) (n int, few bool) {
	if known == 0 || last-known > mostKept || slices.ContainsFunc(c.named[known:last], func(s []Span) bool { return s == nil }) {
		return 0, false
	}
	in := make([]bool, len(c.versions[last-1]))
	for _, named := range c.named[known:last] {
		for _, s := range named {
			for i := range s.Len {
				in[s.Off+i] = true
			}
		}
	}
	for _, is := range in {
		if is {
			n++
		}
	}
	return n, 2*n < len(in)
}

// brings checks that a message makes the last version of the one that a mirror has.
func (c *chaos) brings(m *Message, has uint64) {
	got, from := make([]byte, m.Size), m.Bytes
	if m.Whole {
		copy(got, m.Bytes)
	} else {
		copy(got, c.versions[has-1])
		for _, s := range m.Spans {
			copy(got[s.Off:][:s.Len], from)
			from = from[s.Len:]
		}
	}
	want := c.versions[len(c.versions)-1]
	c.check(bytes.Equal(got, want), "%v makes %x of v%d, want %x", m, got, int64(has)-1, want)
}
