package hugepage

import "unsafe"

// size is the size of a large page in bytes.
const size = 2 << 20

// Advise asks for large pages for all of the cells that whole pages hold. Call it before the first
// cell is used: the system decides when a page is touched for the first time. Cells of less than
// two pages stay as they are. An advice changes no contents, and nothing depends on it.
func Advise[T any](cells []T) {
	if len(cells) == 0 {
		return
	}
	first := unsafe.Pointer(unsafe.SliceData(cells))
	b := unsafe.Slice((*byte)(first), len(cells)*int(unsafe.Sizeof(cells[0])))
	if low, high := inside(uintptr(first), len(b)); high-low >= size {
		advise(b[low:high])
	}
}

// inside is the part of n bytes at an address that whole large pages hold.
func inside(address uintptr, n int) (low, high int) {
	if n < 2*size {
		return 0, 0
	}
	low = int(-address % size)
	return low, low + (n-low)/size*size
}
