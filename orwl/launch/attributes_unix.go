//go:build unix && !linux

package launch

import "syscall"

// attributes put a node into a process group of its own. An interrupt from the terminal then
// reaches it once, from its parent, with all that it has started. Its lifeline tells it when
// its parent dies.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
