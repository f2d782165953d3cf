package loan

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// Bell wakes this node: another process of the machine writes a byte to a pipe. It finds the pipe as it finds
// the arena.
type Bell struct {
	hears *os.File
	rings int // the end that others open; open here, too, so that the pipe never ends
}

func newBell() (*Bell, error) {
	var ends [2]int
	if err := unix.Pipe2(ends[:], unix.O_CLOEXEC|unix.O_NONBLOCK); err != nil {
		return nil, fmt.Errorf("pipe: %w", err)
	}
	return &Bell{hears: os.NewFile(uintptr(ends[0]), "bell"), rings: ends[1]}, nil
}

// Hear waits until the bell has rung since the last call. It fails when the bell is closed.
func (b *Bell) Hear() error {
	var rung [64]byte
	_, err := b.hears.Read(rung[:])
	return err
}

// Close ends Hear.
func (b *Bell) Close() { b.hears.Close() }

// openBell opens the bell of another process, -1 if it has none.
func openBell(o Offer) int {
	path := fmt.Sprintf("/proc/%d/fd/%d", o.PID, o.Bell)
	if what, err := os.Readlink(path); o.Bell == 0 || err != nil || !strings.HasPrefix(what, "pipe:") {
		return -1
	}
	fd, err := unix.Open(path, unix.O_WRONLY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return -1
	}
	return fd
}

func closeBell(fd int) {
	if fd >= 0 {
		unix.Close(fd)
	}
}

// Wake has the other node look at its rings. If its pipe is full, it is about to look.
func (m *Mapping) Wake() { _, _ = unix.Write(m.bell, []byte{1}) }
