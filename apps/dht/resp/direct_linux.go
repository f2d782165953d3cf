package resp

import "golang.org/x/sys/unix"

// writesNow says that writeNow writes.
const writesNow = true

// writeNow writes what a socket that does not block takes at once, and says how many bytes.
func writeNow(socket uintptr, pieces [][]byte) int {
	n, err := unix.Writev(int(socket), pieces)
	if err != nil {
		return 0
	}
	return n
}
