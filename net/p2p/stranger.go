package p2p

import (
	"log/slog"
	"sync"
	"time"
)

// seldom is the least time between two lines of the log about strangers: a stranger that
// can connect must not fill a disk.
const seldom = 10 * time.Second

// strangers counts connections from outside the run, and tells of them now and then.
type strangers struct {
	counts *Counts
	log    *slog.Logger

	mu   sync.Mutex
	said time.Time // when the last line was
	more int       // how many came since then
}

// note counts a connection from outside the run, which was closed.
func (s *strangers) note(address string) {
	s.counts.Strangers.Add(1)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.more++
	if now := time.Now(); now.Sub(s.said) >= seldom {
		s.log.Warn("connection from outside the run closed", "from", address, "since the last line", s.more)
		s.said, s.more = now, 0
	}
}
