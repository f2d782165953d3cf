//go:build linux || darwin || dragonfly || freebsd || netbsd || openbsd

package main

import (
	"os"
	"os/exec"
	"syscall"
)

// forwarded are the signals that go to the command.
var forwarded = []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT}

// group is a command with all that it has started.
type group struct {
	c   *exec.Cmd
	all bool // it has a process group of its own
}

// prepare gives the command a process group of its own. A command that may read from a terminal
// stays in ours, since the terminal speaks to one group only.
func prepare(c *exec.Cmd) group {
	g := group{c, !isTerminal(os.Stdin)}
	c.SysProcAttr = attributes()
	c.SysProcAttr.Setpgid = g.all
	return g
}

func (g group) signal(s os.Signal) {
	number := s.(syscall.Signal)
	if g.all {
		_ = syscall.Kill(-g.c.Process.Pid, number) // it may have ended
		return
	}
	_ = g.c.Process.Signal(number)
}

func (g group) kill() { g.signal(syscall.SIGKILL) }

// signalOf is the signal that has ended a command, 0 if none has.
func signalOf(e *exec.ExitError) int {
	if status, ok := e.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return int(status.Signal())
	}
	return 0
}
