package rma

import (
	"errors"
	"fmt"
)

// ErrClosed is the failure of a window after its fabric was closed.
var ErrClosed = errors.New("rma: fabric is closed")

// ErrPeerLost matches every *PeerLostError.
var ErrPeerLost = errors.New("rma: peer lost")

// ErrNoSpace matches an *AllocError for memory that does not fit.
var ErrNoSpace = errors.New("rma: no space left")

// ErrAsymmetric matches an *AllocError for an allocation that another process
// made differently.
var ErrAsymmetric = errors.New("rma: allocation differs between processes")

// ErrNotAttached is the error of Detach if no region begins at the displacement.
var ErrNotAttached = errors.New("rma: no region of this rank begins at this displacement")

// PeerLostError is the failure of a window after its fabric lost a rank.
type PeerLostError struct {
	Rank Rank   // the lost rank
	Why  string // how the fabric noticed
}

func (e *PeerLostError) Error() string {
	return fmt.Sprintf("rma: rank %d is lost: %s", e.Rank, e.Why)
}

// Is matches ErrPeerLost.
func (e *PeerLostError) Is(target error) bool { return target == ErrPeerLost }

// AllocError is the error of an allocation that the fabric refuses.
type AllocError struct {
	Words, Free int
	Why         error  // ErrNoSpace or ErrAsymmetric
	Hint        string // the next step
}

func (e *AllocError) Error() string {
	return fmt.Sprintf("%v: want %d words, %d are free: %s", e.Why, e.Words, e.Free, e.Hint)
}

// Unwrap makes errors.Is find the reason.
func (e *AllocError) Unwrap() error { return e.Why }

// RankError is the error for a rank that is out of range, or that does not live
// in this process.
type RankError struct {
	Rank  Rank
	Ranks int
	Why   string
}

func (e *RankError) Error() string {
	return fmt.Sprintf("rma: rank %d of %d: %s", e.Rank, e.Ranks, e.Why)
}

// AddressError is the value of the panic after a mistake of the caller: a rank or
// a displacement out of range, detached memory, or a bulk transfer that is not
// whole words.
type AddressError struct {
	Operation string
	Target    Rank
	Disp      Disp
	Bytes     int
	Why       string
}

func (e *AddressError) Error() string {
	return fmt.Sprintf("rma: %s of %d bytes at rank %d, displacement %s: %s",
		e.Operation, e.Bytes, e.Target, e.Disp, e.Why)
}
