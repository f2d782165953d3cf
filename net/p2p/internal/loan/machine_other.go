//go:build !linux

package loan

import "errors"

// BootID says that this system is not supported.
func BootID() (string, error) { return "", errors.ErrUnsupported }
