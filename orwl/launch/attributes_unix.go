//go:build unix && !linux

package launch

import "syscall"

// attributes are a node's: a process group of its own, so that an interrupt from the
// terminal reaches it once, from its parent, with all that it has started. That its
// parent dies it learns from its lifeline.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
