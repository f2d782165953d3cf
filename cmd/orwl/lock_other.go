//go:build !(linux || darwin || dragonfly || freebsd || netbsd || openbsd)

package main

import (
	"os"
	"os/exec"
)

// forwarded are the signals that go to the command.
var forwarded = []os.Signal{os.Interrupt}

// group is a command, without the processes that it has started.
type group struct{ c *exec.Cmd }

func prepare(c *exec.Cmd) group { return group{c} }

// signal ends the command: these systems have no other signal.
func (g group) signal(os.Signal) { g.kill() }

func (g group) kill() { _ = g.c.Process.Kill() } // it may have ended

func signalOf(*exec.ExitError) int { return 0 }
