//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package folder

import (
	"errors"
	"os"
	"syscall"
)

// errLocked says that another process has the lock.
const errLocked = syscall.EWOULDBLOCK

// tryLock locks a file until endLock, or the end of all processes that have a copy of its descriptor. On NFS it is a lock among all machines.
func tryLock(f *os.File) error { return flock(f, syscall.LOCK_EX|syscall.LOCK_NB) }

// endLock ends the lock for all processes with a copy of the descriptor.
func endLock(f *os.File) error { return flock(f, syscall.LOCK_UN) }

func flock(f *os.File, how int) error {
	for {
		if err := syscall.Flock(int(f.Fd()), how); !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}
