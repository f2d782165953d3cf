package protocol

import (
	"cmp"
	"slices"
)

// request is one entry in the queue of a name.
type request struct {
	id      uint64
	number  uint64 // of the message that made it
	s       *session
	n       *name
	read    bool
	held    bool
	revoked bool // its holder was told to let go
	fence   uint64
	at      int64 // when it came, was granted, or was revoked
}

// request enters a queue.
func (h *Home) request(s *session, number uint64, m *Request) {
	if len(s.requests) >= MostRequests {
		h.answer(s, Answer{Call: number, Code: Refused, Why: "the session has too many requests"})
		return
	}
	h.counts.requests++
	r := &request{id: h.counts.requests, number: number, s: s, read: m.Read, at: h.now}
	grant, err := h.queue.Request(r.id, m.Name, m.Read)
	if err != nil {
		h.answer(s, failure(number, err))
		return
	}
	r.n = h.named(m.Name)
	r.n.requests = append(r.n.requests, r)
	s.requests = append(s.requests, r)
	h.requests[r.id] = r
	if grant != nil {
		h.grant(r, *grant)
	}
	h.changed(r.n)
}

// Granted says that the queue has granted a request.
func (h *Home) Granted(now int64, id uint64, g Grant) {
	h.now = now
	if r := h.requests[id]; r != nil && !r.held { // otherwise it was withdrawn meanwhile
		h.grant(r, g)
		h.changed(r.n)
	}
}

func (h *Home) grant(r *request, g Grant) {
	r.held, r.fence, r.at = true, g.Fence, h.now
	h.past.Granted++
	h.say(r.s, Message{Granted: &Granted{Request: r.number, Grant: g}})
}

// withdraw takes back a request that waits.
func (h *Home) withdraw(s *session, number uint64, m *Withdraw) {
	r := s.find(m.Request)
	switch {
	case r == nil:
		h.answer(s, Answer{Call: number, Code: Stale, Why: notHeld})
	case r.held:
		h.answer(s, Answer{Call: number, Code: Held})
	default:
		h.drop(r)
		h.answer(s, Answer{Call: number})
	}
}

const notHeld = "the request does not hold with this fence: it was released, or lost"

// holds finds the request that holds with a fence. It answers the call if there is none.
func (h *Home) holds(s *session, number, asked, fence uint64) *request {
	r := s.find(asked)
	if r == nil || !r.held || r.fence != fence {
		h.answer(s, Answer{Call: number, Code: Stale, Why: notHeld})
		return nil
	}
	return r
}

// release ends an access.
func (h *Home) release(s *session, number uint64, m *Grip) {
	if r := h.holds(s, number, m.Request, m.Fence); r != nil {
		h.remove(r)
		h.answer(s, failure(number, h.queue.Release(r.id)))
	}
}

func (h *Home) read(s *session, number uint64, m *Grip) {
	if r := h.holds(s, number, m.Request, m.Fence); r != nil {
		b, err := h.queue.Read(r.id)
		a := failure(number, err)
		a.Bytes = b
		h.answer(s, a)
	}
}

func (h *Home) write(s *session, number uint64, m *Write) {
	r := h.holds(s, number, m.Request, m.Fence)
	switch {
	case r == nil:
	case r.read:
		h.answer(s, Answer{Call: number, Code: Refused, Why: "it is held for reading"})
	default:
		h.answer(s, failure(number, h.queue.Write(r.id, m.Bytes)))
	}
}

// revoke tells holders to let go.
func (h *Home) revoke(s *session, number uint64, m *Revoke) {
	count := 0
	if n := h.names[m.Name]; n != nil {
		for _, r := range n.requests {
			if !r.held || m.Fence != 0 && m.Fence != r.fence {
				continue
			}
			count++
			if !r.revoked {
				r.revoked, r.at = true, h.now
				h.past.Forced++
				h.say(r.s, Message{Revoked: &Loss{Request: r.number, Why: "an operator has released it"}})
			}
		}
		if count > 0 {
			h.changed(n)
		}
	}
	h.answer(s, Answer{Call: number, Count: count})
}

// lose ends an access without its holder.
func (h *Home) lose(r *request, why string) {
	h.remove(r)
	h.queue.Abandon(r.id)
	h.say(r.s, Message{Lost: &Loss{Request: r.number, Why: cut(why)}})
}

// drop takes back a request that waits.
func (h *Home) drop(r *request) {
	h.remove(r)
	h.queue.Withdraw(r.id)
}

// remove forgets a request. The queue does not know that yet.
func (h *Home) remove(r *request) {
	delete(h.requests, r.id)
	is := func(other *request) bool { return other == r }
	r.s.requests = slices.DeleteFunc(r.s.requests, is)
	r.n.requests = slices.DeleteFunc(r.n.requests, is)
	h.changed(r.n)
}

// find is the session's request of a number.
func (s *session) find(number uint64) *request {
	i, ok := slices.BinarySearchFunc(s.requests, number, func(r *request, number uint64) int { return cmp.Compare(r.number, number) })
	if !ok {
		return nil
	}
	return s.requests[i]
}

// failure is the answer to a call that ended with err, or well.
func failure(number uint64, err error) Answer {
	if err == nil {
		return Answer{Call: number}
	}
	return Answer{Call: number, Code: Refused, Why: cut(err.Error())}
}

// cut is a reason that is not too long.
func cut(why string) string { return why[:min(len(why), mostText)] }

func (h *Home) answer(s *session, a Answer) { h.say(s, Message{Answer: &a}) }
