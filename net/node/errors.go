package node

import "errors"

// Match errors by these. Package p2p has more.
var (
	// ErrLeft is the loss of a node that has said that it leaves.
	ErrLeft = errors.New("p2p: node has left the run")
	// ErrAbsent is the loss of a node that never was there: its number is free, until a process comes
	// late.
	ErrAbsent = errors.New("p2p: no node has this number yet")
	// ErrProtocol is something that no correct node sends. A receiver returns it for such a
	// parcel, and the loss of a node that goes on with it matches it.
	ErrProtocol = errors.New("p2p: not in this protocol")
)
