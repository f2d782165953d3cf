package budget

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// outside says that volumes and buffers lie outside of Go's heap.
const outside = true

// hugePage is the size of a large page. A processor finds large pages faster.
const hugePage = 2 << 20

// reserve returns n bytes of addresses, all zero. They take memory when they are used, one small page
// at a time: with large pages, the first byte of a volume would take 2 MiB.
func reserve(n int) ([]byte, error) {
	at, err := unix.MmapPtr(-1, 0, nil, uintptr(n), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE)
	if err != nil {
		return nil, err
	}
	pages := unsafe.Slice((*byte)(at), n)
	_ = unix.Madvise(pages, unix.MADV_NOHUGEPAGE) // it fails where the kernel has no large pages
	return pages, nil
}

// obtain returns n bytes, or nil.
func obtain(n int) []byte {
	b, err := reserve(n)
	if err != nil {
		return nil
	}
	return b
}

// release gives what reserve has returned back to the system.
func release(b []byte) {
	if err := unix.MunmapPtr(unsafe.Pointer(unsafe.SliceData(b)), uintptr(len(b))); err != nil {
		panic(fmt.Sprintf("budget: releasing %d bytes: %v", len(b), err))
	}
}

// discard gives the memory of pages back, not their addresses. The pages are zero afterwards.
func discard(pages []byte) {
	if err := unix.Madvise(pages, unix.MADV_DONTNEED); err != nil {
		clear(pages) // locked memory stays
	}
}

// large asks for large pages where a volume of pages that had so many bytes has whole ones now, and for small ones
// elsewhere.
func large(pages []byte, was, is int) {
	first := int(-uintptr(unsafe.Pointer(unsafe.SliceData(pages))) % hugePage)
	end := func(n int) int { return first + max(0, n-first)/hugePage*hugePage }
	switch from, to := end(was), end(is); {
	case from < to:
		_ = unix.Madvise(pages[from:to], unix.MADV_HUGEPAGE) // an advice
	case from > to:
		_ = unix.Madvise(pages[to:from], unix.MADV_NOHUGEPAGE)
	}
}
