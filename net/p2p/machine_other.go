//go:build !linux

package p2p

import (
	"errors"
	"os"
)

func fileID(*os.File) (string, error) { return "", errors.ErrUnsupported }
