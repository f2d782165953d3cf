package metrics

import "github.com/orwl/go-orwl/net/node"

// Sessions adds the sessions of a server: a *session.Server. A process has one at most.
func (m *Metrics) Sessions(server interface{ Counts() node.SessionCounts }) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.sessions = server.Counts
}

// collectSessions is called with m unlocked.
func (m *Metrics) collectSessions(s sink) {
	m.mu.Lock()
	counts := m.sessions
	m.mu.Unlock()
	if counts == nil {
		return
	}
	c := counts()
	s.gauge("orwl_sessions", float64(c.Sessions))
	s.gauge("orwl_session_locks", float64(c.Held), "held")
	s.gauge("orwl_session_locks", float64(c.Waiting), "waiting")
	s.count("orwl_sessions_opened_total", c.Opened)
	s.count("orwl_sessions_expired_total", c.Expired)
	s.count("orwl_session_locks_granted_total", c.Granted)
	s.count("orwl_session_locks_lost_total", c.Lost)
	s.count("orwl_session_forced_releases_total", c.Forced)
}
