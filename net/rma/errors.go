package rma

import (
	"errors"
	"fmt"
)

// ErrClosed is the failure of a window whose fabric was closed.
var ErrClosed = errors.New("rma: fabric is closed")

// ErrPeerLost is matched by every *PeerLostError.
var ErrPeerLost = errors.New("rma: peer lost")

// ErrNoSpace is matched by an *AllocError for memory that does not fit.
var ErrNoSpace = errors.New("rma: no space left")

// ErrAsymmetric is matched by an *AllocError for an allocation that another
// process made differently.
var ErrAsymmetric = errors.New("rma: allocation differs between processes")

// ErrNotAttached is the error of Detach for memory that is not attached.
var ErrNotAttached = errors.New("rma: no region of this rank begins there")

// PeerLostError is the failure of a window whose fabric lost a rank.
type PeerLostError struct {
	Rank Rank   // the rank that is gone
	Why  string // how it was noticed
}

func (e *PeerLostError) Error() string {
	return fmt.Sprintf("rma: rank %d is lost: %s", e.Rank, e.Why)
}

// Is matches ErrPeerLost.
func (e *PeerLostError) Is(target error) bool { return target == ErrPeerLost }

// AllocError is an allocation that cannot be had.
type AllocError struct {
	Words, Free int
	Why         error // ErrNoSpace or ErrAsymmetric
	Hint        string
}

func (e *AllocError) Error() string {
	return fmt.Sprintf("%v: %d words asked for, %d free: %s", e.Why, e.Words, e.Free, e.Hint)
}

// Unwrap makes errors.Is find the reason.
func (e *AllocError) Unwrap() error { return e.Why }

// RankError is a rank that a fabric does not have, or not in this process.
type RankError struct {
	Rank  Rank
	Ranks int
	Why   string
}

func (e *RankError) Error() string {
	return fmt.Sprintf("rma: rank %d of %d: %s", e.Rank, e.Ranks, e.Why)
}

// AddressError is the value of the panic after an access that no correct
// program makes: a rank or a displacement out of range, memory that was
// detached, or a bulk transfer that is not whole words.
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
