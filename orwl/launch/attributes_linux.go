package launch

import "syscall"

// attributes are a node's: a process group of its own, so that an interrupt from the
// terminal reaches it once, from its parent, with all that it has started; and death by
// the kernel's hand when its parent dies.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
