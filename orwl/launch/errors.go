package launch

import (
	"errors"
	"fmt"
)

// The errors of a start.
var (
	// ErrEnvironment is an environment that is half set, or contradicts itself. The
	// error that wraps it names the variable and what to do.
	ErrEnvironment = errors.New("launch: environment")
	// ErrOptions is a Run that makes no sense.
	ErrOptions = errors.New("launch: options")
	// ErrNoReport is a node 0 that ended well, and did not say before where it listens.
	ErrNoReport = errors.New("it never said where it listens, so no other node was started: is it an orwl program that runs on several nodes?")
	// ErrUnsupported is a Spawn where processes cannot inherit pipes.
	ErrUnsupported = errors.New("launch: cannot start nodes on this system: start each by itself, with ORWL_NODE and ORWL_PEERS")
)

// mistake is an ErrEnvironment about a variable.
func mistake(variable, format string, args ...any) error {
	return fmt.Errorf("%w: %s %w", ErrEnvironment, variable, fmt.Errorf(format, args...))
}
