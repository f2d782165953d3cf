package resource

import "github.com/orwl/go-orwl/internal/queue"

// Mode is the requested access mode: Read or Write.
type Mode = queue.Mode

const (
	// Read shares the resource with other readers.
	Read = queue.Read
	// Write excludes all others.
	Write = queue.Write
)

// The errors that a program may have an answer to. All others name the resource and say what to do.
var (
	// ErrLost is the end of a request by the loss of the node that keeps the resource.
	ErrLost = queue.ErrLost
	// ErrPriorHolderLost says that a writer failed or was lost. Its write is not there.
	ErrPriorHolderLost = queue.ErrPriorHolderLost
	// ErrPoisoned says that a writer failed or was lost, and that nothing was written since. The bytes may be half
	// written.
	ErrPoisoned = queue.ErrPoisoned
)
