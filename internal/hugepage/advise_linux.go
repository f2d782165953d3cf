package hugepage

import "golang.org/x/sys/unix"

// advise fails where the kernel was built without large pages.
func advise(b []byte) { _ = unix.Madvise(b, unix.MADV_HUGEPAGE) }
