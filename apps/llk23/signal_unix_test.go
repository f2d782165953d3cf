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

// Ctrl-C and SIGTERM end a run with the exit codes of shells, also one of several nodes.
func TestSignals(t *testing.T) {
	for _, nodes := range []string{"1", "2"} {
		for _, c := range []struct {
			signal syscall.Signal
			code   int
			says   string
		}{{syscall.SIGINT, command.Interrupted, "interrupted"}, {syscall.SIGTERM, command.Terminated, "terminated"}} {
			args := strings.Fields("-grid 2x1 -block 20x20 -iters 1000000000 -verify=false -why -nodes " + nodes)
			cmd := exec.CommandContext(t.Context(), os.Args[0], args...)
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
				t.Errorf("%s nodes, %v: exit code %d, want %d; says %q", nodes, c.signal, code, c.code, last)
			}
		}
	}
}

// A run of two nodes fails if the result cannot be printed.
func TestFullOutput(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("this system has no disk that is full: ", err)
	}
	defer full.Close()
	cmd := exec.CommandContext(t.Context(), os.Args[0], strings.Fields("-grid 2x1 -block 20x20 -iters 10 -nodes 2")...)
	cmd.Env = append(os.Environ(), envProgram+"=1")
	var stderr strings.Builder
	cmd.Stdout, cmd.Stderr = full, &stderr
	_ = cmd.Run() // says the exit code again
	if code := cmd.ProcessState.ExitCode(); code != command.Failed || !strings.Contains(stderr.String(), "no space left") {
		t.Errorf("exit code %d, says %q", code, stderr.String())
	}
}
