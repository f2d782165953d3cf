//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package folder

import (
	"syscall"
	"testing"
)

// A lock ends with Close, even if a process that was started meanwhile still has a copy of the descriptor.
func TestCloseUnlocks(t *testing.T) {
	d := Directory(t.TempDir())
	first, err := d.Lock("x.lock")
	if err != nil {
		t.Fatal(err)
	}
	descriptor, err := syscall.Dup(int(first.(locked).Fd()))
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(descriptor)
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	second, err := d.Lock("x.lock")
	if err != nil {
		t.Fatal(err)
	}
	if err := second.Close(); err != nil {
		t.Fatal(err)
	}
}
