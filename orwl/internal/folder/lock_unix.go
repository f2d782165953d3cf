//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package folder

import (
	"errors"
	"os"
	"syscall"
)

// errLocked says that another process has the lock.
const errLocked = syscall.EWOULDBLOCK

// tryLock locks a file until it is closed, also by the end of the process. On NFS it is a lock among all machines.
func tryLock(f *os.File) error {
	for {
		if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}
