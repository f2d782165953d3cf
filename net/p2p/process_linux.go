package p2p

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
)

// peerProcess is another process of this machine. Its file belongs to that process alone:
// once it has ended, the file cannot be read, whoever gets its number.
type peerProcess struct{ stat *os.File }

func openProcess(pid uint64) (peerProcess, error) {
	stat, err := os.Open(fmt.Sprintf("/proc/%d/stat", pid))
	return peerProcess{stat}, err
}

// condition asks the kernel.
func (p peerProcess) condition() condition {
	var text [512]byte
	n, err := p.stat.ReadAt(text[:], 0)
	switch {
	case errors.Is(err, syscall.ESRCH):
		return ended
	case err != nil && !errors.Is(err, io.EOF):
		return stopped
	}
	return parseStat(text[:n])
}

// parseStat reads the state from the text of /proc/PID/stat: the letter behind the
// program's name, which is in parentheses and may have some itself.
func parseStat(text []byte) condition {
	_, rest, found := bytes.Cut(text[max(0, bytes.LastIndexByte(text, ')')):], []byte(") "))
	if !found || len(rest) == 0 {
		return stopped
	}
	switch rest[0] {
	case 'T', 't':
		return stopped
	case 'Z', 'X', 'x':
		return ended
	}
	return runs
}

func (p peerProcess) close() {
	if p.stat != nil {
		p.stat.Close()
	}
}
