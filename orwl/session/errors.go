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
	// ErrUnknown: the server has no resource of this name.
	ErrUnknown = errors.New("session: no resource has this name")
	// ErrBroken: the resource is broken for good, or its home is lost.
	ErrBroken = errors.New("session: the resource is broken")
	// ErrRefused: the call makes no sense, or a bound is reached.
	ErrRefused = errors.New("session: refused")
	// ErrPriorHolderLost: the holder before has lost the lock. Its writes were dropped. Its work
	// outside may be half done.
	ErrPriorHolderLost = errors.New("session: the holder before was lost")
	// ErrPoisoned: the bytes are half written. A holder that writes all of them heals them.
	ErrPoisoned = errors.New("session: the bytes are half written")
)

// elsewhere is the answer of a node that is not the home. Follow goes there.
type elsewhere struct{ why, at string }

func (e *elsewhere) Error() string { return e.why + ", at " + e.at }

// failure is an answer as an error, nil if all is well.
func failure(op, name string, a protocol.Answer) error {
	is := ErrRefused
	switch a.Code {
	case protocol.OK:
		return nil
	case protocol.Elsewhere:
		return fmt.Errorf("%s %q: %w", op, name, &elsewhere{why: a.Why, at: a.At})
	case protocol.Stale:
		return fmt.Errorf("%s %q: %w", op, name, ErrLost)
	case protocol.Unknown:
		is = ErrUnknown
	case protocol.Broken:
		is = ErrBroken
	}
	return fmt.Errorf("%s %q: %w: %s", op, name, is, a.Why)
}

// The words for what happened to a holder before.
const (
	priorLost     = "lost"
	priorPoisoned = "poisoned"
)

// prior is a word as an error.
func prior(word string) error {
	switch word {
	case "":
		return nil
	case priorPoisoned:
		return ErrPoisoned
	}
	return ErrPriorHolderLost
}
