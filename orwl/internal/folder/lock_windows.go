package folder

import (
	"os"

	"golang.org/x/sys/windows"
)

// errLocked says that another process has the lock.
const errLocked = windows.ERROR_LOCK_VIOLATION

// tryLock locks a byte far behind the text of a file, which others may still read then. The lock lasts until the file is closed.
func tryLock(f *os.File) error {
	return windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &windows.Overlapped{OffsetHigh: 1})
}

// endLock leaves it to the end of the file.
func endLock(*os.File) error { return nil }
