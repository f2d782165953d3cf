package protocol

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Queue is where a home's requests wait. Each has an ID of the home, which is never used again.
// The home calls it from within its own methods. A request that is not granted at once is
// granted by Home.Granted, in the order of the queue.
type Queue interface {
	// Request puts a request at the end of the queue of a name. It returns the grant if the
	// request is granted at once, or nil.
	Request(id uint64, name string, read bool) (*Grant, error)
	// Withdraw takes back a request that the home does not know to be granted.
	Withdraw(id uint64)
	// Release ends an access and commits what was written.
	Release(id uint64) error
	// Abandon ends an access whose holder is lost, and drops its writes.
	Abandon(id uint64)
	// Read returns the bytes that the holder sees.
	Read(id uint64) ([]byte, error)
	// Write takes the bytes that Release commits. It may keep them.
	Write(id uint64, b []byte) error
}

// Home keeps the sessions of a node, by leases of its own clock. Not for several goroutines at
// once. All times are of one clock, which never goes back.
//
//	session   Hello ──▶ there ──▶ (connection lost) ──▶ Hello ──▶ there ──▶ over
//	request   waits ──▶ held ──▶ (revoked) ──▶ released, or lost
type Home struct {
	lease    Lease
	queue    Queue
	now      int64
	sessions []*session // in the order of their numbers
	ids      map[string]*session
	conns    map[uint64]*session
	requests map[uint64]*request // by ID
	names    map[string]*name    // the names that have requests or watches
	counts   struct{ sessions, requests, stamps uint64 }
	past     Counts // without what is now
	out      []Parcel
}

// Parcel is a message for the client on a connection. Last says that the connection is over
// behind it.
type Parcel struct {
	Conn    uint64
	Message Message
	Last    bool
}

// session is what the home knows of a client.
type session struct {
	id       string
	number   uint64
	who      string
	conn     uint64 // 0 if there is none
	heard    int64
	link     link
	requests []*request
}

// NewHome makes a home without sessions.
func NewHome(lease Lease, q Queue) *Home {
	return &Home{
		lease: lease, queue: q, ids: make(map[string]*session), conns: make(map[uint64]*session),
		requests: make(map[uint64]*request), names: make(map[string]*name),
	}
}

// Out returns the messages to send, in order.
func (h *Home) Out() []Parcel {
	out := h.out
	h.out = nil
	return out
}

// Take takes a message that has come by a connection. Connections have numbers from 1, which are
// never used again.
func (h *Home) Take(now int64, conn uint64, m Message) {
	h.now = now
	s := h.conns[conn]
	if s == nil {
		if m.Hello == nil {
			h.refuse(conn, "hello must come first")
			return
		}
		h.hello(conn, m)
		return
	}
	fresh, err := s.link.take(m)
	if err != nil {
		h.refuse(conn, err.Error())
		return
	}
	s.heard = now
	if fresh {
		h.obey(s, m)
	}
	if len(s.link.kept) > mostKept || s.link.size > mostBytes {
		h.end(s, "it has taken none of the last messages")
	}
}

// obey does what a client says, once.
func (h *Home) obey(s *session, m Message) {
	switch {
	case m.Beat != nil:
		h.send(s, Message{Echo: m.Beat})
	case m.Request != nil:
		h.request(s, m.Number, m.Request)
	case m.Withdraw != nil:
		h.withdraw(s, m.Number, m.Withdraw)
	case m.Release != nil:
		h.release(s, m.Number, m.Release)
	case m.Read != nil:
		h.read(s, m.Number, m.Read)
	case m.Write != nil:
		h.write(s, m.Number, m.Write)
	case m.List != nil:
		h.list(s, m.Number, m.List)
	case m.Watch != nil:
		h.watch(s, m.Number, m.Watch)
	case m.Revoke != nil:
		h.revoke(s, m.Number, m.Revoke)
	case m.Bye != nil:
		h.end(s, "it has left")
	default:
		h.refuse(s.conn, "this is for a home to say")
	}
}

// hello begins a session, or goes on with one. An echo renews the lease of a client only when it has
// all that was said before, as on a connection that lasts: Tick relies on this where it takes a
// request from a holder that was told to let go.
func (h *Home) hello(conn uint64, m Message) {
	id := string(m.Hello.ID)
	s := h.ids[id]
	switch {
	case s == nil && m.Hello.Known:
		h.out = append(h.out, Parcel{conn, Message{Bye: &Bye{Why: "the session is over: its lease has ended, or the home has started anew"}}, true})
		return
	case s == nil && len(h.sessions) >= MostSessions:
		h.out = append(h.out, Parcel{conn, Message{Bye: &Bye{Why: fmt.Sprintf("there are %d sessions already", MostSessions)}}, true})
		return
	case s == nil:
		h.counts.sessions++
		s = &session{id: id, number: h.counts.sessions, who: m.Hello.Who}
		h.ids[id] = s
		h.sessions = append(h.sessions, s)
	}
	if _, err := s.link.take(m); err != nil {
		h.refuse(conn, err.Error())
		return
	}
	if s.conn != 0 {
		h.out = append(h.out, Parcel{Conn: s.conn, Last: true})
		delete(h.conns, s.conn)
	}
	h.conns[conn], s.conn, s.heard = s, conn, h.now
	h.send(s, Message{Admission: &Admission{Session: s.number, Length: int64(h.lease.Lease), Skew: int64(h.lease.Skew), Sent: m.Hello.Sent}})
	for _, m := range s.link.kept {
		h.send(s, m)
	}
	if m.Hello.Known {
		h.send(s, Message{Echo: &Beat{Sent: m.Hello.Sent}})
	}
}

// Left says that a connection has ended. The session goes on until its lease ends.
func (h *Home) Left(conn uint64) {
	if s := h.conns[conn]; s != nil {
		s.conn = 0
		delete(h.conns, conn)
	}
}

// Tick ends the sessions and the requests whose time is over. It returns when to call it again;
// 0 if there is no session. No message brings an earlier time.
func (h *Home) Tick(now int64) (next int64) {
	h.now = now
	for _, s := range slices.Clone(h.sessions) {
		if now >= h.lease.GivesUp(s.heard) {
			h.past.Expired++
			h.past.Lost += s.held()
			h.end(s, "it was silent for its lease")
			continue
		}
		for _, r := range slices.Clone(s.requests) {
			if r.revoked && now >= h.lease.GivesUp(r.at) {
				h.past.Lost++
				h.lose(r, "it was told to let go and has not")
			}
		}
	}
	for _, s := range h.sessions {
		next = earlier(next, h.lease.GivesUp(s.heard))
		for _, r := range s.requests {
			if r.revoked {
				next = earlier(next, h.lease.GivesUp(r.at))
			}
		}
	}
	return next
}

// earlier is the first of two times, where 0 is none.
func earlier(a, b int64) int64 {
	if a == 0 {
		return b
	}
	return min(a, b)
}

// end ends a session, with all it has. It waits for nothing first, so that no grant goes to a
// request of its own.
func (h *Home) end(s *session, why string) {
	for _, r := range slices.Clone(s.requests) {
		if !r.held {
			h.drop(r)
		}
	}
	for _, r := range slices.Clone(s.requests) {
		h.remove(r)
		h.queue.Abandon(r.id)
	}
	for _, n := range h.names {
		n.watches = slices.DeleteFunc(n.watches, func(w watch) bool { return w.s == s })
		h.forget(n)
	}
	if s.conn != 0 {
		h.out = append(h.out, Parcel{s.conn, Message{Bye: &Bye{Why: why}}, true})
		delete(h.conns, s.conn)
	}
	delete(h.ids, s.id)
	h.sessions = slices.DeleteFunc(h.sessions, func(other *session) bool { return other == s })
}

// refuse ends a connection on which something wrong was said. The session goes on.
func (h *Home) refuse(conn uint64, why string) {
	h.Left(conn)
	h.out = append(h.out, Parcel{conn, Message{Bye: &Bye{Why: why}}, true})
}

// say says something with a number to a session, now or when it connects again.
func (h *Home) say(s *session, m Message) {
	m = s.link.say(m)
	if s.conn != 0 {
		h.send(s, m)
	}
}

// send sends a message on the session's connection.
func (h *Home) send(s *session, m Message) {
	m.Taken = s.link.taken
	h.out = append(h.out, Parcel{Conn: s.conn, Message: m})
}

// Counts are what the sessions of a home have done. The first three are as of now, and the others
// only grow.
type Counts struct {
	Sessions, Held, Waiting                int
	Opened, Expired, Granted, Lost, Forced uint64
}

// Counts returns them.
func (h *Home) Counts() Counts {
	c := h.past
	c.Sessions, c.Opened = len(h.sessions), h.counts.sessions
	for _, r := range h.requests {
		if r.held {
			c.Held++
		} else {
			c.Waiting++
		}
	}
	return c
}

// held is how many locks a session holds.
func (s *session) held() (held uint64) {
	for _, r := range s.requests {
		if r.held {
			held++
		}
	}
	return held
}

// name is a queue as the home knows it: the requests of sessions, in order.
type name struct {
	name     string
	stamp    uint64
	requests []*request
	watches  []watch
}

// watch is a call that waits for a change.
type watch struct {
	s      *session
	number uint64
}

// named is the name, which is made if it is new.
func (h *Home) named(text string) *name {
	n := h.names[text]
	if n == nil {
		n = &name{name: text}
		h.names[text] = n
	}
	return n
}

// changed gives a name a new stamp, and answers those that watch it.
func (h *Home) changed(n *name) {
	h.counts.stamps++
	n.stamp = h.counts.stamps
	watches := n.watches
	n.watches = nil
	for _, w := range watches {
		h.answer(w.s, Answer{Call: w.number, States: []State{h.state(n)}})
	}
	h.forget(n)
}

// forget forgets a name without requests and watches. Its state has stamp 0 from then on.
func (h *Home) forget(n *name) {
	if len(n.requests) == 0 && len(n.watches) == 0 && h.names[n.name] == n {
		delete(h.names, n.name)
	}
}

// watch answers a call when the name's state is not the one that the caller knows.
func (h *Home) watch(s *session, number uint64, m *Watch) {
	n := h.names[m.Name]
	if n == nil && m.Stamp != 0 {
		h.answer(s, Answer{Call: number, States: []State{{Name: m.Name}}})
		return
	}
	n = h.named(m.Name)
	if n.stamp != m.Stamp {
		h.answer(s, Answer{Call: number, States: []State{h.state(n)}})
		return
	}
	if len(n.watches) >= MostRequests {
		h.answer(s, Answer{Call: number, Code: Refused, Why: "too many watch this name"})
		return
	}
	n.watches = append(n.watches, watch{s, number})
}

// list answers with as many names as fit into a message.
func (h *Home) list(s *session, number uint64, m *List) {
	a := Answer{Call: number}
	size := 0
	for _, text := range slices.Sorted(maps.Keys(h.names)) {
		n := h.names[text]
		if text <= m.After || !strings.HasPrefix(text, m.Prefix) || len(n.requests) == 0 {
			continue
		}
		if size >= listSize {
			a.More = true
			break
		}
		state := h.state(n)
		size += len(text) + len(state.Requests)*(MaxWho+64)
		a.States = append(a.States, state)
	}
	h.answer(s, a)
}

// state lists the holders of a name, and the requests that wait.
func (h *Home) state(n *name) State {
	state := State{Name: n.name, Length: len(n.requests)}
	if len(n.requests) > 0 {
		state.Stamp = n.stamp
	}
	for _, r := range n.requests[:min(len(n.requests), mostListed)] {
		state.Requests = append(state.Requests, Holder{
			Session: r.s.number, Who: r.s.who, Read: r.read, Held: r.held, Revoked: r.revoked, Fence: r.fence, For: h.now - r.at,
		})
	}
	return state
}
