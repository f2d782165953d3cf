package queue

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"testing"

	"pgregory.net/rapid"
)

// nation is one resource on several nodes, its places everywhere, and what all of
// them should be: places of one resource, in the order in which their requests come
// to the home, who each see what was committed before.
type nation struct {
	t     *rapid.T
	n     *network
	r     []*Resource
	fifo  FIFO
	ids   ID
	all   []*citizen
	bytes []byte

	version uint64
	burst   bool // nothing moves yet
}

// citizen is a place on a node.
type citizen struct {
	Place
	node  int
	id    ID // 0: idle
	mode  Mode
	held  bool
	view  []byte // while it writes
	told  *int
	asked bool
	fence uint64
}

func (m *nation) right(err error) {
	m.t.Helper()
	if err != nil {
		m.t.Fatal(err)
	}
}

func (m *nation) wrong(err, want error) {
	m.t.Helper()
	var e *PlaceError
	if !errors.Is(err, want) || !errors.As(err, &e) {
		m.t.Fatalf("got %v, want the PlaceError %v", err, want)
	}
}

// settle lets everything arrive, one lane after the other as chance has it.
func (m *nation) settle() {
	for all := m.n.busy(); len(all) > 0 && !m.burst; all = m.n.busy() {
		i := 0
		if len(all) > 1 {
			i = rapid.IntRange(0, len(all)-1).Draw(m.t, "lane")
		}
		m.right(m.n.move(all[i]))
	}
}

func (m *nation) granted(c *citizen) bool {
	granted, _ := m.fifo.Granted(c.id)
	return granted
}

func (m *nation) begin(c *citizen) {
	m.ids++
	c.id, c.held, c.told, c.asked = m.ids, false, new(int), false
	_, err := m.fifo.Request(c.id, c.mode, nil)
	m.right(err)
}

func (m *nation) request(c *citizen, mode Mode) {
	err := c.Request(m.r[c.node], mode)
	if c.id != 0 {
		m.wrong(err, ErrRequested)
		return
	}
	m.right(err)
	c.mode = mode
	m.begin(c)
	m.settle()
}

func (m *nation) acquire(c *citizen) {
	err := c.Acquire(ended())
	switch {
	case c.id == 0:
		m.wrong(err, ErrNotRequested)
	case c.held:
		m.wrong(err, ErrHeld)
	case !m.granted(c):
		m.wrong(err, context.Canceled)
	default:
		m.right(err)
		c.held, c.view = true, nil
		b, err := c.Bytes()
		m.right(err)
		if c.Version() != m.version || !bytes.Equal(b, m.bytes) || c.Prior() != nil {
			m.t.Fatalf("node %d sees version %d %x, prior %v, want %d %x", c.node, c.Version(), b, c.Prior(), m.version, m.bytes)
		}
		if c.mode == Write && c.Fence() <= c.fence {
			m.t.Fatalf("fence %d after %d", c.Fence(), c.fence)
		}
		c.fence = c.Fence()
	}
}

func (m *nation) write(c *citizen, x uint64, resize bool) {
	if !c.held || c.mode == Read {
		_, err := c.Writable()
		if c.held {
			m.wrong(err, ErrReadOnly)
		} else {
			m.wrong(err, ErrNotHeld)
		}
		return
	}
	if resize {
		size := int(x % 37)
		m.right(c.Resize(size))
		if c.view == nil {
			c.view = bytes.Clone(m.bytes)
		}
		next := make([]byte, size)
		copy(next, c.view)
		c.view = next
	}
	b, err := c.Writable()
	m.right(err)
	if c.view == nil {
		c.view = bytes.Clone(m.bytes)
	}
	if len(b) < 8 {
		return
	}
	at := int(x % uint64(len(b)/8) * 8)
	binary.NativeEndian.PutUint64(b[at:], x)
	binary.NativeEndian.PutUint64(c.view[at:], x)
}

func (m *nation) leave(c *citizen, renew bool) {
	do := c.Release
	if renew {
		do = c.Renew
	}
	err := do()
	if !c.held {
		m.wrong(err, ErrNotHeld)
		return
	}
	m.right(err)
	if c.view != nil {
		m.version++
		m.bytes, c.view = c.view, nil
	}
	old := c.id
	c.id, c.held = 0, false
	if renew {
		m.begin(c)
	}
	_, err = m.fifo.Release(old, nil)
	m.right(err)
	m.settle()
}

func (m *nation) cancel(c *citizen) {
	err := c.Cancel()
	switch {
	case c.id == 0:
		m.wrong(err, ErrNotRequested)
		return
	case c.held:
		m.wrong(err, ErrHeld)
		return
	}
	m.right(err)
	if _, err = m.fifo.Cancel(c.id, nil); errors.Is(err, ErrGranted) {
		_, err = m.fifo.Release(c.id, nil)
	}
	m.right(err)
	c.id = 0
	m.settle()
}

func (m *nation) notify(c *citizen) {
	told := c.told
	err := c.Notify(func() { *told++ })
	switch {
	case c.id == 0 || c.held:
		m.wrong(err, ErrNotRequested)
	case c.asked:
		m.wrong(err, ErrNotified)
	default:
		m.right(err)
		c.asked = true
	}
}

func (m *nation) check() {
	for i, c := range m.all {
		granted, waits := m.granted(c), c.id != 0 && !c.held
		l := c.Inspect(m.r[c.node])
		if c.Granted() != granted || l.Granted != granted || l.Held != c.held || l.Requested != waits {
			m.t.Fatalf("place %d of node %d: granted %t, looks like %+v, want granted %t, held %t", i, c.node, c.Granted(), l, granted, c.held)
		}
		size := 0
		if granted && !c.held {
			size = len(m.bytes)
		}
		if !c.held && c.Size() != size {
			m.t.Fatalf("place %d of node %d: %d bytes, want %d", i, c.node, c.Size(), size)
		}
		if c.id == 0 {
			continue
		}
		told := 0
		if c.asked && granted {
			told = 1
		}
		if *c.told != told {
			m.t.Fatalf("place %d of node %d was told %d times, want %d", i, c.node, *c.told, told)
		}
	}
}

// TestPlacesOfNodesAreAFIFO has places of three nodes do any steps, right ones and wrong
// ones. A place cannot tell where the home is.
func TestPlacesOfNodesAreAFIFO(t *testing.T) {
	for range 10 { // most steps of few places are refused
		rapid.Check(t, playNation)
	}
}

func playNation(t *rapid.T) {
	m := &nation{t: t, fifo: NewFIFO(), n: newNetwork(3, SiteOptions{}), bytes: make([]byte, 24)}
	home := Node(rapid.IntRange(0, 2).Draw(t, "home"))
	for i, s := range m.n.sites {
		r, err := New("r", 24)
		m.right(err)
		m.r = append(m.r, r)
		if Node(i) == home {
			m.right(s.Home(r))
		} else {
			m.right(s.Mirror(r, home))
		}
	}
	for i := range rapid.SampledFrom([]int{3, 7, 15}).Draw(t, "places") {
		m.all = append(m.all, &citizen{node: i % 3, told: new(int)})
	}
	one := rapid.IntRange(0, len(m.all)-1)
	at := func(step func(*citizen)) func(*rapid.T) {
		return func(t *rapid.T) { step(m.all[one.Draw(t, "place")]) }
	}
	modes := rapid.SampledFrom([]Mode{Read, Write})
	request := at(func(c *citizen) { m.request(c, modes.Draw(t, "mode")) })
	write := at(func(c *citizen) {
		bits := rapid.IntRange(0, 7).Draw(t, "how")
		m.write(c, rapid.Uint64().Draw(t, "value"), bits == 0)
	})
	advance := func(*rapid.T) {
		for _, c := range m.all {
			if c.held {
				m.leave(c, false)
			} else if c.id != 0 && m.granted(c) {
				m.acquire(c)
			}
		}
	}
	t.Repeat(map[string]func(*rapid.T){
		"request": request, "enter": request, "come": request,
		"acquire": at(m.acquire), "advance": advance, "go on": advance,
		"release": at(func(c *citizen) { m.leave(c, false) }),
		"renew":   at(func(c *citizen) { m.leave(c, true) }),
		"cancel":  at(m.cancel),
		"notify":  at(m.notify),
		"burst": at(func(c *citizen) {
			m.burst = true
			bits := rapid.Uint32().Draw(t, "steps")
			for i, other := range m.all {
				if step := bits >> i & 3; other.node != c.node || step == 0 {
					continue
				} else if other.held {
					m.leave(other, step == 1)
				} else if other.id == 0 {
					m.request(other, Mode(step&1))
				} else if step == 3 {
					m.cancel(other)
				}
			}
			m.burst = false
			m.settle()
		}),
		"write": write, "edit": write,
		"": func(*rapid.T) { m.check() },
	})
	for m.fifo.Len() > 0 {
		advance(t)
		m.check()
	}
	h := m.r[home]
	if q, c := h.requested.Load()&^flags, h.completed.Load()&^flags; q != c {
		t.Fatalf("%#x requested, %#x completed", q, c)
	}
}
