package metrics

import (
	"testing"

	"github.com/orwl/go-orwl/net/node"
)

// busyServer is a server with sessions.
type busyServer struct{}

func (busyServer) Counts() node.SessionCounts {
	return node.SessionCounts{Sessions: 1, Held: 2, Waiting: 3, Opened: 4, Expired: 5, Granted: 6, Lost: 7, Forced: 8}
}

// TestSessions tells what a server counts.
func TestSessions(t *testing.T) {
	m, registry := made(t, Options{})
	m.Sessions(busyServer{})
	for i, name := range []string{
		"orwl_sessions", "orwl_session_locks", "orwl_session_locks", "orwl_sessions_opened_total", "orwl_sessions_expired_total",
		"orwl_session_locks_granted_total", "orwl_session_locks_lost_total", "orwl_session_forced_releases_total",
	} {
		var labels []string
		if name == "orwl_session_locks" {
			labels = []string{[]string{"", "state=held", "state=waiting"}[i]}
		}
		if got := value(t, registry, name, labels...); got != float64(i+1) {
			t.Errorf("%s %v is %v, want %d", name, labels, got, i+1)
		}
	}
}
