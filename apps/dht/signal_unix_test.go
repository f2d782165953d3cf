//go:build unix

package main

import (
	"bufio"
	"syscall"
	"testing"

	"github.com/orwl/go-orwl/internal/command"
)

// Ctrl-C ends a contest with the exit code of shells.
func TestBenchInterrupted(t *testing.T) {
	c := program(t, nil, "bench", "-ranks", "2", "-ops", "16777216")
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	lines.Scan() // the title: the contest begins
	if err := c.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	for lines.Scan() {
	}
	_ = c.Wait() // says the exit code again
	if code := c.ProcessState.ExitCode(); code != command.Interrupted {
		t.Errorf("exit code %d, want %d", code, command.Interrupted)
	}
}
