package protocol

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
