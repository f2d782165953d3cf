package window

import (
	"fmt"
	"os"
	"syscall"
)

// fileID tells an open file from all others of the machine.
func fileID(file *os.File) (string, error) {
	info, err := file.Stat()
	if err != nil {
		return "", err
	}
	stat := info.Sys().(*syscall.Stat_t)
	return fmt.Sprintf("%d:%d", stat.Dev, stat.Ino), nil
}
