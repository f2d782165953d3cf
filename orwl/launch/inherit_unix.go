//go:build unix

package launch

import (
	"bufio"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// A process inherits the reading end of a pipe from Spawn, the lifeline, and the writing
// end of another, the report. Over ssh these are its standard input and its standard error.
//
// The lifeline brings the cluster key in hexadecimal, in one line. A line after that is the
// number of a signal that the process sends to itself. When the lifeline is cut, the process
// that held its other end is gone.
//
// The report takes up to three lines, each behind a mark: where the node listens, and later, if the run
// goes on without nodes that are lost, the words goOn. A node that comes back says these when it is in. If the run has ended well
// on the node, the last line says so.
//
// If the launcher wants to know how far the nodes are, all of them inherit the writing end of one
// more pipe, or have their standard error over ssh. It takes a line behind a mark for each
// [Progress].

const (
	goOn  = "go on"
	ended = "ended well"
)

// inheritedKey takes the lifeline, once, and returns the key that came with it.
var inheritedKey = sync.OnceValues(func() ([]byte, error) {
	lifeline, err := inheritedPipe(envLifeline)
	if err != nil {
		return nil, err
	}
	in := bufio.NewReader(lifeline)
	line, err := in.ReadString('\n')
	if err != nil {
		return nil, mistake(envLifeline, "brings no key: %w: the process that started this one is gone", err)
	}
	key, err := hex.DecodeString(strings.TrimSuffix(line, "\n"))
	if err != nil {
		return nil, mistake(envLifeline, "brings no key: %w", err)
	}
	go heed(in)
	return key, nil
})

// heed sends this process the signals that the lifeline brings, and ends it when the lifeline
// is cut.
func heed(lifeline io.Reader) {
	self := syscall.Getpid()
	for lines := bufio.NewScanner(lifeline); lines.Scan(); { // whatever ends it
		if s, err := strconv.Atoi(lines.Text()); err == nil {
			syscall.Kill(self, syscall.Signal(s))
		}
	}
	syscall.Kill(self, syscall.SIGTERM)
	time.Sleep(defaultGrace)
	syscall.Kill(self, syscall.SIGKILL)
}

// reportEnd takes the report pipe, once. Standard error is also the program's.
var reportEnd = sync.OnceValues(func() (*os.File, error) { return launchersEnd(envReport) })

// progressEnd takes the pipe for progress, once.
var progressEnd = sync.OnceValues(func() (*os.File, error) { return launchersEnd(envProgress) })

// launchersEnd is where a variable says that the launcher listens.
func launchersEnd(variable string) (*os.File, error) {
	if os.Getenv(variable) == strconv.Itoa(errorFD) {
		return os.Stderr, nil
	}
	return inheritedPipe(variable)
}

// reported is set when this process has said where it listens.
var reported atomic.Bool

// report says where this process listens.
func report(address string) error {
	at, err := parseAddress(address, 0)
	if err != nil || at.port == 0 {
		return fmt.Errorf("launch: cannot report %q: want the host:port that this node listens on", address)
	}
	if reported.Swap(true) {
		return errors.New("launch: this node has reported where it listens: it can do so once")
	}
	return say(reportEnd, at.String())
}

// reportGoOn says that the run goes on without nodes that are lost.
var reportGoOn = sync.OnceValue(func() error { return say(reportEnd, goOn) })

// reportDone says that the run has ended well.
func reportDone() error { return say(reportEnd, ended) }

// reportProgress says how far this node is.
func reportProgress(node int, p Progress) error { return say(progressEnd, p.line(node)) }

// say writes a line to the launcher, in one piece.
func say(end func() (*os.File, error), line string) error {
	to, err := end()
	if err == nil {
		_, err = io.WriteString(to, mark+line+"\n")
	}
	return err
}

// inheritedPipe is the pipe whose descriptor is in a variable. It does not touch a descriptor
// that is no such pipe: another part of the process owns it if a program in between has closed
// the pipe.
func inheritedPipe(variable string) (*os.File, error) {
	text := os.Getenv(variable)
	fd, err := strconv.Atoi(text)
	var stat syscall.Stat_t
	if err == nil && fd >= 0 {
		err = syscall.Fstat(fd, &stat)
	}
	kind := uint32(stat.Mode) & syscall.S_IFMT
	if err != nil || fd < 0 || kind != syscall.S_IFIFO && (kind != syscall.S_IFSOCK || fd != inputFD) { // some sshd have sockets
		return nil, mistake(variable, "is %q, which is no pipe here: have the program itself started, not one that starts it and closes what it inherits, such as go run", text)
	}
	syscall.CloseOnExec(fd)
	if err := syscall.SetNonblock(fd, true); err != nil { // a goroutine waits for it, not a thread
		return nil, mistake(variable, "is %q: %w", text, err)
	}
	return os.NewFile(uintptr(fd), variable), nil
}
