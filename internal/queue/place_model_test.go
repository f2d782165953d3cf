package queue

import (
	"context"
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// room is a resource, its places, and a model of both.
type room struct {
	t        *rapid.T
	r        *Resource
	fifo     FIFO
	ids      ID
	visitors []*visitor
	gone     []*visitor // of requests that were taken back, and how often they were told by then

	value          byte
	fence, version uint64
	broken         error
	ordered        bool // tickets do not overflow soon
}

// visitor is a place and a model of it.
type visitor struct {
	Place
	id             ID // 0: idle
	mode           Mode
	held           bool
	wrote          bool
	asked          bool // for a notice of this request
	told           *int // how often it got one
	fence, version uint64
	seen, want     sightings
}

// sightings count what an observer was told.
type sightings struct{ requested, acquired, waited, released, cancelled int }

// seer is the observer of a guest.
type seer struct{ *sightings }

func (s seer) Observe(e Event) {
	switch e.Kind {
	case Requested:
		s.requested++
	case Released:
		s.released++
	case Withdrawn:
		s.cancelled++
	case Acquired:
		s.acquired++
	case Waiting:
		s.waited++
	}
}

// ended returns a context that has ended.
func ended() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

// Where the counting words stand when a game begins: so many counts before an overflow,
// or behind it.
var beginnings = []struct {
	readers, writers int
	ordered          bool // nothing overflows that tickets are made of
}{
	{0, 0, true},
	{5, 7, true},
	{-2, 9, false}, // readers
	{3, -3, false}, // writers
	{-1, -2, false},
	{-2, -20, false},
	{9, 1<<28 - 2, true}, // the sign of a difference of writers
	{9, 1<<28 - 20, true},
	{1<<30 - 3, 1<<27 - 2, true}, // the sign of a word
	{0, 1<<16 - 5, true},
	{0, 1<<24 - 5, true},
}

// word is a counting word with these counts.
func word(readers, writers int) uint64 {
	return uint64(readers)*oneReader + uint64(writers)&writersMask*oneWriter
}

func (m *room) fail(want bool, format string, args ...any) {
	if !want {
		m.t.Fatalf(format, args...)
	}
}

// wrong checks that a step failed with want and with no other error.
func (m *room) wrong(err, want error) {
	m.t.Helper()
	var e *PlaceError
	if !errors.Is(err, want) || !errors.As(err, &e) {
		m.t.Fatalf("got %v, want the PlaceError %v", err, want)
	}
}

func (m *room) right(err error) {
	m.t.Helper()
	if err != nil {
		m.t.Fatal(err)
	}
}

func (m *room) granted(g *visitor) bool {
	granted, _ := m.fifo.Granted(g.id)
	return granted
}

func (m *room) request(g *visitor, mode Mode) {
	if g.id != 0 {
		m.wrong(g.Request(m.r, mode), ErrRequested)
		return
	}
	m.right(g.Request(m.r, mode))
	m.begin(g, mode)
}

func (m *room) begin(g *visitor, mode Mode) {
	m.ids++
	g.id, g.mode, g.held, g.asked, g.told = m.ids, mode, false, false, new(int)
	g.want.requested++
	_, err := m.fifo.Request(g.id, mode, nil)
	m.right(err)
}

func (m *room) acquire(g *visitor) {
	err := g.Acquire(ended())
	switch {
	case g.id == 0:
		m.wrong(err, ErrNotRequested)
	case g.held:
		m.wrong(err, ErrHeld)
	case m.broken != nil:
		m.wrong(err, ErrBroken)
		m.wrong(err, m.broken)
	case !m.granted(g):
		m.wrong(err, context.Canceled)
	default:
		m.right(err)
		g.held = true
		g.want.acquired++
		if g.mode == Write {
			m.fence++
		}
		g.fence, g.version = m.fence, m.version
	}
}

// leave is Release or Renew.
func (m *room) leave(g *visitor, renew bool) {
	do := g.Release
	if renew {
		do = g.Renew
	}
	err := do()
	if !g.held {
		m.wrong(err, ErrNotHeld)
		return
	}
	m.right(err)
	if g.wrote {
		g.wrote = false
		m.version++
	}
	g.want.released++
	old := g.id
	g.id, g.held = 0, false
	if renew {
		m.begin(g, g.mode)
	}
	_, err = m.fifo.Release(old, nil)
	m.right(err)
}

func (m *room) cancel(g *visitor) {
	err := g.Cancel()
	switch {
	case g.id == 0:
		m.wrong(err, ErrNotRequested)
		return
	case g.held:
		m.wrong(err, ErrHeld)
		return
	}
	m.right(err)
	m.gone = append(m.gone, &visitor{told: g.told, asked: g.asked && (m.granted(g) || m.broken != nil)})
	if _, err = m.fifo.Cancel(g.id, nil); errors.Is(err, ErrGranted) {
		_, err = m.fifo.Release(g.id, nil)
	}
	m.right(err)
	g.id = 0
	g.want.cancelled++
}

func (m *room) notify(g *visitor) {
	told := g.told
	err := g.Notify(func() { *told++ })
	switch {
	case g.id == 0 || g.held:
		m.wrong(err, ErrNotRequested)
	case g.asked:
		m.wrong(err, ErrNotified)
	default:
		m.right(err)
		g.asked = true
	}
}

func (m *room) write(g *visitor, x byte) {
	b, err := g.Writable()
	switch {
	case !g.held:
		m.wrong(err, ErrNotHeld)
	case g.mode == Read:
		m.wrong(err, ErrReadOnly)
	default:
		m.right(err)
		b[0], m.value, g.wrote = x, x, true
	}
}

func (m *room) read(g *visitor) {
	b, err := g.Bytes()
	if !g.held {
		m.wrong(err, ErrNotHeld)
		return
	}
	m.right(err)
	m.fail(len(b) == 8 && b[0] == m.value, "the bytes are %v, want 8 that begin with %d", b, m.value)
}

// check compares everything that is visible from outside.
func (m *room) check() {
	type ticket struct {
		id ID
		n  uint32
	}
	var tickets []ticket
	for i, g := range m.visitors {
		granted, waits := m.granted(g), g.id != 0 && !g.held
		m.fail(g.Held() == g.held && g.Requested() == waits, "place %d: held %t, requested %t, want %t, %t", i, g.Held(), g.Requested(), g.held, waits)
		m.fail(g.Granted() == (granted || waits && m.broken != nil), "place %d: granted: %t", i, g.Granted())
		l := g.Inspect(m.r)
		m.fail(l.Held == g.held && l.Requested == waits, "place %d looks like %+v", i, l)
		if m.broken == nil {
			m.fail(l.Granted == granted, "place %d looks granted: %t, want %t", i, l.Granted, granted)
		}
		if g.id != 0 {
			m.fail(g.Mode() == g.mode && l.Mode == g.mode && g.Resource() == m.r, "place %d: mode %v, looks like %v, want %v", i, g.Mode(), l.Mode, g.mode)
			told := 0
			if g.asked && (granted || m.broken != nil) {
				told = 1
			}
			m.fail(*g.told == told, "place %d was told %d times that it is granted, want %d", i, *g.told, told)
		}
		if waits {
			tickets = append(tickets, ticket{g.id, l.Ticket})
		}
		fence, version, size := uint64(0), uint64(0), 0
		if g.held {
			fence, version, size = g.fence, g.version, 8
		} else if granted && m.broken == nil {
			size = 8
		}
		m.fail(g.Fence() == fence && g.Version() == version, "place %d: fence %d, version %d, want %d, %d", i, g.Fence(), g.Version(), fence, version)
		m.fail(g.Size() == size, "place %d: %d bytes, want %d", i, g.Size(), size)
		m.fail(g.seen == g.want, "place %d was observed to %+v, want %+v", i, g.seen, g.want)
	}
	for _, g := range m.gone {
		told := 0
		if g.asked {
			told = 1
		}
		m.fail(*g.told == told, "a request that was taken back was told of %d times, want %d", *g.told, told)
	}
	if m.ordered {
		slices.SortFunc(tickets, func(a, b ticket) int { return int(a.id) - int(b.id) })
		for i := range tickets[min(1, len(tickets)):] {
			a, b := tickets[i], tickets[i+1]
			m.fail(b.n-a.n == uint32(b.id-a.id), "tickets %d and %d of requests %d and %d", a.n, b.n, a.id, b.id)
		}
	}
	if m.fifo.Len() > 0 {
		return
	}
	q, c := m.r.requested.Load(), m.r.completed.Load()
	m.fail(q == c&^flags, "%#x requested and %#x completed", q, c)
	m.fail(m.r.waiting() == 0, "%d still wait", m.r.waiting())
}

// TestPlacesAreAFIFO makes random steps at several places from one goroutine, right and
// wrong ones.
func TestPlacesAreAFIFO(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &room{t: t, fifo: NewFIFO()}
		var err error
		m.r, err = New("r", 8)
		m.right(err)
		begin := rapid.SampledFrom(beginnings).Draw(t, "beginning")
		m.r.requested.Store(word(begin.readers, begin.writers))
		m.r.completed.Store(word(begin.readers, begin.writers))
		m.ordered = begin.ordered
		m.visitors = make([]*visitor, rapid.SampledFrom([]int{3, 6, 40}).Draw(t, "places"))
		for i := range m.visitors {
			g := &visitor{told: new(int)}
			g.Observe(seer{&g.seen}, AllOrdered)
			m.visitors[i] = g
		}
		one := rapid.IntRange(0, len(m.visitors)-1)
		anyone := func(t *rapid.T) *visitor { return m.visitors[one.Draw(t, "place")] }
		at := func(step func(*visitor)) func(*rapid.T) {
			return func(t *rapid.T) { step(anyone(t)) }
		}
		modes := rapid.SampledFrom([]Mode{Read, Write})
		request := func(t *rapid.T) { m.request(anyone(t), modes.Draw(t, "mode")) }
		t.Repeat(map[string]func(*rapid.T){
			"request": request,
			"enter":   request,
			"crowd": func(t *rapid.T) {
				bits := rapid.Uint64().Draw(t, "modes")
				for i, g := range m.visitors {
					if g.id == 0 {
						m.request(g, Mode(bits>>i&1))
					}
				}
			},
			"acquire": at(m.acquire),
			"advance": func(*rapid.T) {
				for _, g := range m.visitors {
					if g.held {
						m.leave(g, false)
					} else if g.id != 0 && m.granted(g) {
						m.acquire(g)
					}
				}
			},
			"release": at(func(g *visitor) { m.leave(g, false) }),
			"renew":   at(func(g *visitor) { m.leave(g, true) }),
			"cancel":  at(m.cancel),
			"retreat": at(m.cancel),
			"notify":  at(m.notify),
			"write":   func(t *rapid.T) { m.write(anyone(t), rapid.Byte().Draw(t, "value")) },
			"read":    at(m.read),
			"break": func(t *rapid.T) {
				if rapid.IntRange(0, 15).Draw(t, "really") != 7 {
					return
				}
				reason := errors.New("a reason")
				m.r.Break(reason)
				if m.broken == nil {
					m.broken = reason
				}
			},
			"": func(*rapid.T) { m.check() },
		})
		// Every holder ends its access, and no request is left.
		for m.fifo.Len() > 0 {
			for _, g := range m.visitors {
				if g.held {
					m.leave(g, false)
				} else if g.id != 0 && (m.broken != nil || !m.granted(g)) {
					m.cancel(g)
				} else if g.id != 0 {
					m.acquire(g)
				}
				m.check()
			}
		}
	})
}
