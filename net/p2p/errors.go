package p2p

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/orwl/go-orwl/net/node"
	"github.com/orwl/go-orwl/net/p2p/internal/lane"
	"github.com/orwl/go-orwl/net/p2p/internal/lease"
	"github.com/orwl/go-orwl/net/p2p/internal/transport"
)

// Match errors by these.
var (
	// ErrTaken is an Options.Listen at which another process listens.
	ErrTaken = transport.ErrTaken
	// ErrNoKey is a node that would be open to the world.
	ErrNoKey = errors.New("p2p: listening beyond loopback needs a key")
	// ErrStranger is matched by the error of Join if node 0 has another key.
	ErrStranger = errors.New("p2p: another key, or not a node of this run")
	// ErrIdentity is an Options.Host that has another identity than the node.
	ErrIdentity = transport.ErrIdentity
	// ErrLost is matched by every *PeerError of a node that has died or was given up.
	ErrLost = errors.New("p2p: node lost")
	// ErrLeft is matched by every *PeerError of a node that has said that it leaves.
	ErrLeft = lane.ErrLeft
	// ErrAbsent is matched by the *PeerError of a number that is free: see Options.Begin.
	ErrAbsent = node.ErrAbsent
	// ErrRefused is matched by every *RefusedError.
	ErrRefused = errors.New("p2p: refused")
	// ErrMissing is matched by every *MissingError.
	ErrMissing = errors.New("p2p: not all nodes came")
	// ErrApart is this node if it must not go on as one of its run: see Node.OnApart.
	ErrApart = errors.New("p2p: this node is apart from its run: see why it was cut off or stood still, and start the run again")
	// ErrClosed is the error of calls on a node that was closed.
	ErrClosed = errors.New("p2p: node is closed")
	// ErrBacklog is a parcel for a node that does not take the parcels before.
	ErrBacklog = lane.ErrBacklog
	// ErrProtocol is a parcel that no correct node sends. A receiver returns an error that
	// matches it, and so does the loss of a node that went on with it.
	ErrProtocol = lane.ErrProtocol
)

// Reasons for a loss.
var (
	errSilent = errors.New("nothing was heard of it for lease and skew")
	errGone   = errors.New("no node listens there any more")
	errNobody = errors.New("it could not be reached")
	errEnded  = lease.ErrEnded
)

// PeerError is that another node is gone. It stays so for the rest of the run.
type PeerError struct {
	Node    int
	Address string // where it listened, "" if that was never known
	Left    bool   // it has said that it leaves; otherwise it is lost
	Why     error  // nil if it has left

	told bool // an epoch told of it: another node has not heard the peer; this node may have
}

// early reports whether the node may still keep what others have lent to it, because its
// lease is not over: the others may have lost a node that this one still hears.
func (e *PeerError) early() bool { return e.told || errors.Is(e.Why, errNobody) }

func (e *PeerError) Error() string {
	switch {
	case e.absent():
		return fmt.Sprintf("p2p: node %d: %v", e.Node, e.Why)
	case e.Left:
		return fmt.Sprintf("p2p: node %d at %s has left the run: let all nodes close together", e.Node, e.Address)
	}
	return fmt.Sprintf("p2p: node %d at %s is lost: %v: look there, then start the run again", e.Node, e.Address, e.Why)
}

// absent reports whether the node never was there.
func (e *PeerError) absent() bool { return errors.Is(e.Why, ErrAbsent) }

// Is matches ErrLeft or ErrLost.
func (e *PeerError) Is(target error) bool {
	return target == ErrLeft && e.Left || target == ErrLost && !e.Left
}

// Unwrap is why it was lost.
func (e *PeerError) Unwrap() error { return e.Why }

// RefusedError says that another node refused this one.
type RefusedError struct {
	By     int // the node that refused
	Reason string
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("%v by node %d: %s", ErrRefused, e.By, e.Reason)
}

// Is matches ErrRefused.
func (e *RefusedError) Is(target error) bool { return target == ErrRefused }

// MissingError is the error of Join for a run that never was complete.
type MissingError struct {
	Nodes   int   // the number of nodes that begin the run
	Missing []int // the nodes that did not come
	Why     error // nil if the time ran out
}

func (e *MissingError) Error() string {
	var list strings.Builder
	for i, number := range e.Missing {
		if i == 16 {
			fmt.Fprintf(&list, " and %d more", len(e.Missing)-i)
			break
		}
		fmt.Fprintf(&list, " %d", number)
	}
	text := fmt.Sprintf("%v: of %d nodes, these did not:%s", ErrMissing, e.Nodes, list.String())
	if e.Why != nil {
		text += ": " + e.Why.Error()
	}
	return text + ": see what they say, or raise Options.JoinTimeout"
}

// Is matches ErrMissing.
func (e *MissingError) Is(target error) bool { return target == ErrMissing }

// Unwrap is why no more were waited for.
func (e *MissingError) Unwrap() error { return e.Why }

// protocolError is something that no correct node sends.
func protocolError(format string, args ...any) error { return lane.Protocol(format, args...) }

// isAny reports whether err matches any of the targets.
func isAny(err error, targets ...error) bool {
	return slices.ContainsFunc(targets, func(target error) bool { return errors.Is(err, target) })
}
