package p2p

import (
	"bytes"
	"fmt"
	"os"
	"syscall"
)

// bootID is this machine's, since it was started. Containers of one machine have the
// same: it says that two processes may have memory in common, not that they can reach
// each other's.
func bootID() (string, error) {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return string(bytes.TrimSpace(id)), err
}

// fileID tells an open file from all others of the machine.
func fileID(file *os.File) (string, error) {
	info, err := file.Stat()
	if err != nil {
		return "", err
	}
	stat := info.Sys().(*syscall.Stat_t)
	return fmt.Sprintf("%d:%d", stat.Dev, stat.Ino), nil
}
