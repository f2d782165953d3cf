package budget

import (
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// residentPages is how many pages of some addresses have memory.
func residentPages(t *testing.T, pages []byte) (n int) {
	t.Helper()
	in := make([]byte, len(pages)/page)
	if _, _, err := unix.Syscall(unix.SYS_MINCORE, uintptr(unsafe.Pointer(&pages[0])), uintptr(len(pages)), uintptr(unsafe.Pointer(&in[0]))); err != 0 {
		t.Skipf("this kernel does not tell which pages have memory: %v", err)
	}
	for _, is := range in {
		n += int(is & 1)
	}
	return n
}

// TestResident has memory only for pages that are counted: none for addresses that were never used, and none for those
// that a volume has left.
func TestResident(t *testing.T) {
	const most = 16 << 20
	b := New(64 << 20)
	region, err := b.Reserve(1, most)
	if err != nil {
		t.Fatal(err)
	}
	v, err := region.Volume(100)
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range []int{100, 3 << 20, 9 << 20, 5<<20 + 5000, 100} {
		if err := v.Resize(size); err != nil {
			t.Fatal(err)
		}
		for i := 0; i < size; i += page {
			v.Bytes()[i] = 1
		}
		if got, counted := residentPages(t, v.pages), b.Usage().Keys/page; got != counted {
			t.Errorf("with %d bytes, %d pages have memory, and %d are counted", size, got, counted)
		}
	}
}
