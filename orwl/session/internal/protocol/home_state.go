package protocol

import (
	"maps"
	"slices"
	"strings"
)

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
