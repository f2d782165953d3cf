//go:build darwin || dragonfly || freebsd || netbsd || openbsd

package main

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// attributes are none: on these systems the command outlives this process.
func attributes() *syscall.SysProcAttr { return new(syscall.SysProcAttr) }

// isTerminal reports whether a person may type into a file.
func isTerminal(f *os.File) bool {
	_, err := unix.IoctlGetTermios(int(f.Fd()), unix.TIOCGETA)
	return err == nil
}
