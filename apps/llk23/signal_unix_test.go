//go:build unix

package main

import (
	"bufio"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/orwl/go-orwl/internal/command"
)

// Ctrl-C and SIGTERM end a run with the exit codes of shells.
func TestSignals(t *testing.T) {
	for _, c := range []struct {
		signal syscall.Signal
		code   int
		says   string
	}{{syscall.SIGINT, command.Interrupted, "interrupted"}, {syscall.SIGTERM, command.Terminated, "terminated"}} {
		cmd := exec.CommandContext(t.Context(), os.Args[0], strings.Fields("-grid 2x1 -block 20x20 -iters 1000000000 -verify=false -why")...)
		cmd.Env = append(os.Environ(), envProgram+"=1")
		stderr, err := cmd.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(stderr)
		lines.Scan() // -why: the run has begun
		if err := cmd.Process.Signal(c.signal); err != nil {
			t.Fatal(err)
		}
		last := ""
		for lines.Scan() {
			last = lines.Text()
		}
		_ = cmd.Wait() // says the exit code again
		if code := cmd.ProcessState.ExitCode(); code != c.code || last != "llk23: stopped without a result: "+c.says {
			t.Errorf("%v: exit code %d, want %d; says %q", c.signal, code, c.code, last)
		}
	}
}
