package rendezvous

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
)

const (
	// comeAfter is how long a candidate waits for one with a higher identity to ask. Then it
	// asks itself: the other may not have found it.
	comeAfter = 300 * time.Millisecond
	// firstRetry and lastRetry bound the pause before a candidate is asked again.
	firstRetry = 200 * time.Millisecond
	lastRetry  = 3 * time.Second
)

// meeting is the agreement, as one candidate knows it: a step function. Each step
// returns what this candidate says. It ends with a seat or an error.
//
//	looking   it leads, as far as it knows, and may have guests
//	following it has said here to its leader, and waits
//	sealed    all guests are there; it is node 0
//	over      it has a seat that another gave, or an error
type meeting struct {
	me     peer.ID
	nodes  int
	others map[peer.ID]*other
	leader peer.ID // the candidate that it follows, or ""
	sealed bool
	root   string   // where it listens, as node 0
	seat   *message // the seat that the leader gave
	err    error
}

// other is another candidate.
type other struct {
	since    time.Duration // when it was found
	next     time.Duration // it is not asked before this time
	failures int
	asking   bool // this candidate asks it, and it has not answered
	invited  bool // it was told to stay
	guest    bool // it has said here
	number   int  // its number, as a guest of a sealed run
}

// act is something to say to another candidate. An ask opens a stream; here, and leave, which
// says nothing and ends the stream, are about that stream. Everything else is an answer to
// the other's ask.
type act struct {
	to  peer.ID
	say message
}

func newMeeting(me peer.ID, nodes int) *meeting {
	m := &meeting{me: me, nodes: nodes, others: make(map[peer.ID]*other)}
	m.sealed = nodes == 1
	return m
}

// over reports whether this candidate has no more to do.
func (m *meeting) over() bool { return m.seat != nil || m.err != nil }

// looks reports whether it neither follows nor has all guests.
func (m *meeting) looks() bool { return !m.over() && !m.sealed && m.leader == "" }

// found notes a candidate. Discovery or another candidate has told of it.
func (m *meeting) found(now time.Duration, id peer.ID) []act {
	m.other(now, id)
	return m.tick(now)
}

func (m *meeting) other(now time.Duration, id peer.ID) *other {
	o := m.others[id]
	if o == nil {
		o = &other{since: now}
		if id != m.me {
			m.others[id] = o
		}
	}
	return o
}

// tick asks the candidates that are due, or seals the run.
func (m *meeting) tick(now time.Duration) []act {
	if !m.looks() {
		return nil
	}
	if guests := m.guests(); len(guests)+1 == m.nodes {
		m.seal(guests)
		return nil
	}
	var acts []act
	for _, id := range m.sorted() {
		o := m.others[id]
		if o.asking || o.next > now {
			continue
		}
		if id < m.me && m.asksLower() || id > m.me && o.since+comeAfter > now {
			continue
		}
		o.asking = true
		acts = append(acts, act{id, message{Say: ask, Nodes: m.nodes}})
	}
	return acts
}

// asksLower reports whether it asks a candidate that may become its leader.
func (m *meeting) asksLower() bool {
	for id, o := range m.others {
		if o.asking && id < m.me {
			return true
		}
	}
	return false
}

// guests are the candidates that have said here, in their order.
func (m *meeting) guests() (all []peer.ID) {
	for _, id := range m.sorted() {
		if m.others[id].guest {
			all = append(all, id)
		}
	}
	return all
}

func (m *meeting) sorted() []peer.ID { return slices.SortedFunc(maps.Keys(m.others), cmp.Compare) }

// seal takes number 0, and numbers the guests.
func (m *meeting) seal(guests []peer.ID) {
	m.sealed = true
	for i, id := range guests {
		m.others[id].number = i + 1
	}
}

// listens gives the guests their seats: node 0 listens at an address.
func (m *meeting) listens(address string) (acts []act) {
	m.root = address
	for _, id := range m.guests() {
		acts = append(acts, m.seated(id))
	}
	return acts
}

// seated gives a guest its seat.
func (m *meeting) seated(id peer.ID) act {
	return act{id, message{Say: seat, Number: m.others[id].number, Root: m.root}}
}

// hear takes what another candidate says.
func (m *meeting) hear(now time.Duration, from peer.ID, said message) []act {
	if m.over() || from == m.me {
		return nil
	}
	o := m.other(now, from)
	if o.failures = 0; from > m.me {
		o.next = now + lastRetry // it knows this candidate now, and comes by itself
	}
	switch said.Say {
	case ask:
		return m.asked(now, from, o, said)
	case here:
		if m.sealed && o.number == 0 {
			return []act{{from, message{Say: full}}}
		}
		o.guest = o.invited
		if o.guest && m.root != "" {
			return []act{m.seated(from)}
		}
		return m.tick(now)
	}
	if !o.asking && m.leader != from {
		return nil // it answers a question that is withdrawn
	}
	switch said.Say {
	case stay:
		return m.follow(from, o)
	case lead:
		m.unask(now, from, o, lastRetry)
		if x := peer.ID(said.Leader); x != m.me {
			m.other(now, x)
		}
		return m.tick(now)
	case full:
		m.err = fmt.Errorf("%w: another %d processes with this key are a run already: end it, or use another key", ErrFull, m.nodes)
	case refuse:
		m.err = fmt.Errorf("%w: %s", ErrRefused, said.Why)
	case seat:
		if m.leader == from {
			m.seat = &said
		}
	}
	return nil
}

// asked answers an ask.
func (m *meeting) asked(now time.Duration, from peer.ID, o *other, said message) []act {
	answer := message{Say: stay}
	switch {
	case said.Nodes != m.nodes:
		answer = message{Say: refuse, Why: fmt.Sprintf("its run has %d nodes, and this one %d: give all the same", m.nodes, said.Nodes)}
	case m.sealed && o.number == 0:
		answer = message{Say: full}
	case m.sealed: // its stream broke
	case m.leader != "":
		answer = message{Say: lead, Leader: string(m.leader)}
	case from < m.me:
		answer = message{Say: lead, Leader: string(from)}
	}
	o.guest, o.invited = false, answer.Say == stay
	return append([]act{{from, answer}}, m.tick(now)...)
}

// follow makes another candidate the leader, which has said stay, and sends the guests there.
func (m *meeting) follow(id peer.ID, o *other) []act {
	o.asking = false
	if !m.looks() {
		return []act{{id, message{Say: leave}}}
	}
	m.leader = id
	acts := []act{{id, message{Say: here}}}
	for _, other := range m.sorted() {
		if o := m.others[other]; o.invited {
			acts = append(acts, act{other, message{Say: lead, Leader: string(id)}})
			o.guest, o.invited = false, false
		}
	}
	return acts
}

// unask notes that an ask is over, and when the candidate may be asked again.
func (m *meeting) unask(now time.Duration, id peer.ID, o *other, pause time.Duration) {
	o.asking, o.next = false, now+pause
	if m.leader == id {
		m.leader = ""
	}
}

// failed notes that an ask has ended without an answer, or that the leader is gone.
func (m *meeting) failed(now time.Duration, id peer.ID) []act {
	o := m.others[id]
	if o == nil || !o.asking && m.leader != id {
		return nil
	}
	o.failures++
	m.unask(now, id, o, min(firstRetry<<min(o.failures-1, 8), lastRetry))
	return m.tick(now)
}

// left notes that a candidate that had asked is gone.
func (m *meeting) left(id peer.ID) {
	if o := m.others[id]; o != nil {
		o.guest, o.invited = false, false
	}
}
