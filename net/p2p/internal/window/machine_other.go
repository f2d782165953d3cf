//go:build !linux

package window

import (
	"errors"
	"os"
)

func fileID(*os.File) (string, error) { return "", errors.ErrUnsupported }
