package loan

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
)

// peerProcess is another process of this machine. Its file belongs to that process alone:
// once it has ended, the file cannot be read, even if another process gets its number.
type peerProcess struct{ stat *os.File }

func openProcess(PID uint64) (peerProcess, error) {
	stat, err := os.Open(fmt.Sprintf("/proc/%d/stat", PID))
	return peerProcess{stat}, err
}

// Condition asks the kernel.
func (p peerProcess) Condition() Condition {
	var text [512]byte
	n, err := p.stat.ReadAt(text[:], 0)
	switch {
	case errors.Is(err, syscall.ESRCH):
		return Ended
	case err != nil && !errors.Is(err, io.EOF):
		return Stopped
	}
	return parseStat(text[:n])
}

// parseStat reads the state from the text of /proc/PID/stat: the letter behind the
// program's name, which is in parentheses and may have some itself.
func parseStat(text []byte) Condition {
	_, rest, found := bytes.Cut(text[max(0, bytes.LastIndexByte(text, ')')):], []byte(") "))
	if !found || len(rest) == 0 {
		return Stopped
	}
	switch rest[0] {
	case 'T', 't':
		return Stopped
	case 'Z', 'X', 'x':
		return Ended
	}
	return Runs
}

func (p peerProcess) Close() {
	if p.stat != nil {
		p.stat.Close()
	}
}
