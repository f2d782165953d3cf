package session

import (
	"errors"
	"fmt"

	"github.com/orwl/go-orwl/orwl/session/internal/protocol"
)

// Match errors by these.
var (
	// ErrLost ends the context of a lock that the session has lost: its lease is over, or the
	// home has taken the lock. Calls of that lock match it, too.
	ErrLost = errors.New("session: the lock is lost: lock it again, and look what was done")
	// ErrRevoked ends the context of a lock that an operator has released by force. Unlock it.
	ErrRevoked = errors.New("session: the lock was released by force: unlock it")
	// ErrOver: the session has ended, with all its locks.
	ErrOver = errors.New("session: the session is over: dial again")
	// ErrBusy: another session holds the lock, or waits for it.
	ErrBusy = errors.New("session: the lock is not free")
	// ErrRefused: the call makes no sense, or a bound is reached.
	ErrRefused = errors.New("session: refused")
	// ErrPriorHolderLost: the holder before has lost the lock. Its writes were dropped. Its work
	// outside may be half done.
	ErrPriorHolderLost = errors.New("session: the holder before was lost")
)

// failure is an answer as an error, nil if all is well.
func failure(op, name string, a protocol.Answer) error {
	switch a.Code {
	case protocol.OK:
		return nil
	case protocol.Stale:
		return fmt.Errorf("%s %q: %w", op, name, ErrLost)
	}
	return fmt.Errorf("%s %q: %w: %s", op, name, ErrRefused, a.Why)
}
