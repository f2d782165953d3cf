//go:build race && unix

package ring

import (
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// TestRaceDetectorSees has two nodes of a process map a ring at two addresses. One sets a variable, and writes to the ring. The other reads the
// ring, and then the variable: that is no race.
func TestRaceDetectorSees(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "ring"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	const words = 4096 // bytes for the words, in front of the ring
	if err := file.Truncate(words + Size); err != nil {
		t.Fatal(err)
	}
	mapped := func() (b []byte, written, read *atomic.Uint64, attention *atomic.Uint32) {
		m, err := unix.Mmap(int(file.Fd()), 0, words+Size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = unix.Munmap(m) })
		at := func(i int) unsafe.Pointer { return unsafe.Pointer(&m[i]) }
		return m[words:], (*atomic.Uint64)(at(0)), (*atomic.Uint64)(at(64)), (*atomic.Uint32)(at(128))
	}
	w := NewWriter(mapped())
	b, written, read, _ := mapped()
	r := NewReader(b, written, read, 0)
	told := 0
	var both sync.WaitGroup
	both.Go(func() {
		told = 1
		w.Write([]byte{1})
	})
	both.Go(func() {
		for got := make([]byte, 1); ; runtime.Gosched() {
			if n, err := r.Read(got); n > 0 || err != nil {
				break
			}
		}
		if told != 1 {
			t.Error("the write was not seen")
		}
	})
	both.Wait()
}
