package node

// SessionCounts are what the sessions of a server have done. The first three are as of now, and the
// others only grow.
type SessionCounts struct {
	Sessions      int // open sessions
	Held, Waiting int // locks that sessions have, or wait for

	Opened, Expired uint64 // sessions, and those that were silent for their lease
	Granted         uint64 // locks
	Lost            uint64 // locks whose holder was silent for its lease, or has not let go in time
	Forced          uint64 // holders that were told to let go
}
