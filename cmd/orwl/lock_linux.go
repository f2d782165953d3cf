package main

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// attributes have the kernel kill the command when this process dies.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }

// isTerminal reports whether a person may type into a file.
func isTerminal(f *os.File) bool {
	_, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	return err == nil
}
