//go:build unix

package launch

import (
	"fmt"
	"io/fs"
)

// checkPrivate refuses a file that others may read, change or replace by writing. A
// group may read it: that is how Kubernetes hands a Secret to a program that is not root.
func checkPrivate(info fs.FileInfo) error {
	const others, groupWrites = 0o007, 0o020
	if mode := info.Mode().Perm(); mode&(others|groupWrites) != 0 {
		return fmt.Errorf("its mode is %04o, so it is not secret: chmod 600 it, and make a new key if another user may have read it", mode)
	}
	return nil
}
