package lane

import (
	"errors"
	"fmt"
	"slices"

	"github.com/orwl/go-orwl/net/node"
)

// Match the errors of lanes by these.
var (
	// ErrBacklog is a frame for a node that does not take what was sent before.
	ErrBacklog = errors.New("p2p: backlog is full")
	// ErrLeft is the loss of a node that has said that it leaves.
	ErrLeft = node.ErrLeft
	// ErrProtocol is something that no correct node sends.
	ErrProtocol = node.ErrProtocol

	errReplaced = errors.New("the other side has opened a new one")
	// errSevered ends a reader whose stream is over anyway.
	errSevered = errors.New("p2p: stream is over")
	// errGivenUp is a node that has said in its memory that it has given this one up.
	errGivenUp = errors.New("it has given this node up")
)

// Protocol is an error that matches ErrProtocol.
func Protocol(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrProtocol, fmt.Sprintf(format, args...))
}

// isAny reports whether err matches any of the targets.
func isAny(err error, targets ...error) bool {
	return slices.ContainsFunc(targets, func(target error) bool { return errors.Is(err, target) })
}
