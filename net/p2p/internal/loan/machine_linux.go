package loan

import (
	"bytes"
	"os"
)

// BootID is this machine's, since it was started. Containers of one machine have the
// same: it says that two processes may have memory in common, not that they can reach
// each other's.
func BootID() (string, error) {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return string(bytes.TrimSpace(id)), err
}
