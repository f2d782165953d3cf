package hugepage

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// All pages that hold a byte are asked for, if there are enough bytes.
func TestAround(t *testing.T) {
	for _, c := range []struct {
		address   uintptr
		n         int
		low, high uintptr
	}{
		{0, size/2 - 1, 0, 0},
		{0, size / 2, 0, size},
		{0, size, 0, size},
		{0, size + 1, 0, 2 * size},
		{8, size, 0, 2 * size},
		{size - 8, size, 0, 2 * size},
		{7 * size, 5*size + 1, 7 * size, 13 * size},
	} {
		if low, high := around(c.address, c.n); low != c.low || high != c.high {
			t.Errorf("%d bytes at %d: %d to %d, want %d to %d", c.n, c.address, low, high, c.low, c.high)
		}
	}
}

// The system has noted the advice for memory that is large enough.
func TestAdvise(t *testing.T) {
	if _, err := os.Stat("/sys/kernel/mm/transparent_hugepage/enabled"); err != nil {
		t.Skipf("this kernel has no large pages: %v", err)
	}
	m, err := unix.Mmap(-1, 0, 4*size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Munmap(m) }() // the test is over
	cells := unsafe.Slice((*float64)(unsafe.Pointer(&m[0])), len(m)/8)
	page := (uintptr(unsafe.Pointer(&m[0])) + size - 1) / size * size // the first large page that is in the mapping
	if advised(t, page) {
		t.Fatal("large pages are asked for before Advise")
	}
	Advise(cells[:size/16-1])
	if advised(t, page) {
		t.Error("large pages are asked for, for less than half of one")
	}
	Advise(cells)
	if !advised(t, page) {
		t.Error("large pages are not asked for")
	}
	Advise([]float64(nil))
}

// advised reports whether the system knows that the page at an address should be large.
func advised(t *testing.T, address uintptr) bool {
	f, err := os.Open("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	here := false
	for s := bufio.NewScanner(f); s.Scan(); {
		var low, high uintptr
		if n, _ := fmt.Sscanf(s.Text(), "%x-%x ", &low, &high); n == 2 {
			here = low <= address && address < high
		}
		if flags, is := strings.CutPrefix(s.Text(), "VmFlags:"); is && here {
			return strings.Contains(flags+" ", " hg ")
		}
	}
	t.Fatalf("no memory is mapped at %x", address)
	return false
}
