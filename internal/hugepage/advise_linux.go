package hugepage

import "golang.org/x/sys/unix"

// advise fails where the kernel was built without large pages. It takes addresses and no slice, because a part of the
// pages is not of the cells.
func advise(low, high uintptr) {
	_, _, _ = unix.Syscall(unix.SYS_MADVISE, low, high-low, unix.MADV_HUGEPAGE)
}
