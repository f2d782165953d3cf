package hugepage

import "unsafe"

// size is the size of a large page in bytes.
const size = 2 << 20

// Advise asks for large pages for all pages that hold any of the cells. Call it before the first
// cell is used: the system decides when a page is touched for the first time. Cells of less than
// half a page stay as they are. The first and the last page may hold other things, too, mostly cells that are swept
// beside these. An advice changes no contents, and nothing depends on it.
func Advise[T any](cells []T) {
	if len(cells) == 0 {
		return
	}
	address := uintptr(unsafe.Pointer(unsafe.SliceData(cells)))
	if low, high := around(address, len(cells)*int(unsafe.Sizeof(cells[0]))); high > low {
		advise(low, high)
	}
}

// around is the addresses of the large pages that hold any of n bytes.
func around(address uintptr, n int) (low, high uintptr) {
	if n < size/2 {
		return 0, 0
	}
	return address / size * size, (address + uintptr(n) + size - 1) / size * size
}
