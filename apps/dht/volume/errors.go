package volume

import (
	"errors"
	"fmt"
)

// The sentinels of this package's errors.
var (
	// ErrFull is matched by every *FullError.
	ErrFull = errors.New("volume: full")
	// ErrRefused is matched by the error of At on other ranks if the owner's At has
	// failed.
	ErrRefused = errors.New("the owner's own error says why")
	// ErrNoLock is the error of operations that need a lock, on a volume that has
	// none.
	ErrNoLock = errors.New("the discipline " + AtomicsOnly + " has no lock: choose a reader-writer lock")
	// ErrNotOwner is matched by the error of a Resize by another rank.
	ErrNotOwner = errors.New("only the owner's rank can resize a volume")
	// ErrFixed is matched by the error of a Resize of a volume that was not made
	// to grow.
	ErrFixed = errors.New("the volume was made with a fixed size: set Options.Growable")
)

// FullError is the error of an element whose bucket is taken while the heap has
// no cell left. Nothing has changed.
type FullError struct {
	Key           uint64
	Buckets, Heap int
}

func (e *FullError) Error() string {
	return fmt.Sprintf("volume: no room for key %d: its bucket of %d is taken and all %d cells of the heap are in use: delete elements, or resize the volume",
		e.Key, e.Buckets, e.Heap)
}

// Is matches ErrFull.
func (e *FullError) Is(target error) bool { return target == ErrFull }
