package resource

import "errors"

// Mode is what an access is for.
type Mode uint8

const (
	// Read shares the resource with other readers.
	Read Mode = iota
	// Write has it alone.
	Write
)

func (m Mode) String() string {
	if m == Write {
		return "write"
	}
	return "read"
}

// ID names a request. Whoever requests chooses it, and not one that is in the
// queue.
type ID uint64

// The mistakes of whoever uses a FIFO.
var (
	// ErrQueued is a request whose ID is in the queue already.
	ErrQueued = errors.New("resource: request is queued already")
	// ErrNotQueued is a release or a cancellation of what is not in the queue.
	ErrNotQueued = errors.New("resource: no such request is queued")
	// ErrNotGranted is a release of a request that still waits.
	ErrNotGranted = errors.New("resource: request is not granted yet")
	// ErrGranted is a cancellation of a request that is granted.
	ErrGranted = errors.New("resource: request is granted already")
	// ErrMode is a request that is neither Read nor Write.
	ErrMode = errors.New("resource: no such mode")
)
