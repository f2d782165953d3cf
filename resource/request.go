package resource

import "errors"

// Mode is the requested access mode.
type Mode uint8

const (
	// Read shares the resource with other readers.
	Read Mode = iota
	// Write excludes all others.
	Write
)

func (m Mode) String() string {
	if m == Write {
		return "write"
	}
	return "read"
}

// ID names a request in a queue. The caller chooses an ID that is not in use.
type ID uint64

// The errors of requests that are named by an ID.
var (
	// ErrQueued: a request with this ID is in the queue.
	ErrQueued = errors.New("resource: request is queued already")
	// ErrNotQueued: the request to release or cancel is not in the queue.
	ErrNotQueued = errors.New("resource: no such request is queued")
	// ErrNotGranted: the request to release still waits.
	ErrNotGranted = errors.New("resource: request is not granted yet")
	// ErrGranted: the request to cancel is granted.
	ErrGranted = errors.New("resource: request is granted already")
	// ErrMode: the mode is neither Read nor Write.
	ErrMode = errors.New("resource: no such mode")
)
