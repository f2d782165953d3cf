package node

import (
	"fmt"
	"time"
)

// ElsewhereError says that a resource has its home on another node.
type ElsewhereError struct {
	Resource string
	Home     int
}

func (e *ElsewhereError) Error() string {
	return fmt.Sprintf("the home of %q is node %d", e.Resource, e.Home)
}

// Queued is the request of a task in the queue of a resource that has its home here.
type Queued struct {
	Resource string
	Task     string // the task; if several could be it, all of them
	Node     int    // of the task
	Read     bool
	Granted  bool
	Ticket   uint32 // comparable with the Ticket of a resource.PlaceState
	// For is how long it has been so, at least; 0 at the first look.
	For time.Duration
}

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
