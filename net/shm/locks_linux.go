package shm

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"

	"github.com/orwl/go-orwl/net/rma"
)

// locks are how processes see that another one lives. A process that claims a rank
// holds a write lock on the byte of the file with the rank's number, until it closes
// the fabric or ends. The kernel drops the lock at once, however the process ends, also
// before its parent reaps it. Process ids are no help: they are reused, and differ
// between containers.
//
// The locks belong to an open file description that no other process shares.
// Two fabrics opened by one process are strangers to each other.
type locks struct{ file *os.File }

// take locks rank p's byte. It reports false if another process has it.
func (l locks) take(p rma.Rank) (bool, error) {
	err := l.fcntl(unix.F_OFD_SETLK, &unix.Flock_t{Type: unix.F_WRLCK, Start: int64(p), Len: 1})
	if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EACCES) {
		return false, nil
	}
	return err == nil, err
}

// drop unlocks rank p's byte.
func (l locks) drop(p rma.Rank) error {
	return l.fcntl(unix.F_OFD_SETLK, &unix.Flock_t{Type: unix.F_UNLCK, Start: int64(p), Len: 1})
}

// held reports whether another process has the lock of rank p's byte. When in
// doubt it does.
func (l locks) held(p rma.Rank) bool {
	lock := unix.Flock_t{Type: unix.F_WRLCK, Start: int64(p), Len: 1}
	return l.fcntl(unix.F_OFD_GETLK, &lock) != nil || lock.Type != unix.F_UNLCK
}

func (l locks) fcntl(command int, lock *unix.Flock_t) error {
	return control(l.file, func(fd int) error { return unix.FcntlFlock(uintptr(fd), command, lock) })
}
