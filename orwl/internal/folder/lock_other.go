//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package folder

import (
	"errors"
	"os"
)

// errLocked says that another process has the lock.
var errLocked = errors.New("folder: locked")

// tryLock fails: without a lock, two runs would remove each other's cuts.
func tryLock(*os.File) error { return errors.ErrUnsupported }

// endLock leaves it to the end of the file.
func endLock(*os.File) error { return nil }
