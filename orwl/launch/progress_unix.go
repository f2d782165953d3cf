//go:build unix

package launch

import (
	"bufio"
	"os"
	"strings"
)

// follower reads lines from a pipe whose writing end nodes inherit.
type follower struct {
	begin, end *os.File
	ended      chan struct{}
}

// follow makes the pipe, and gives each line to heed.
func follow(heed func(line string)) (*follower, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	f := &follower{begin: r, end: w, ended: make(chan struct{})}
	go func() {
		defer close(f.ended)
		for lines := bufio.NewScanner(r); lines.Scan(); {
			heed(strings.TrimPrefix(lines.Text(), mark))
		}
	}()
	return f, nil
}

// close ends it. A process that a node has left behind may still have the writing end.
func (f *follower) close() {
	if f == nil {
		return
	}
	f.end.Close()
	f.begin.Close()
	<-f.ended
}
