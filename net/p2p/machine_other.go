//go:build !linux

package p2p

import (
	"errors"
	"os"
)

func bootID() (string, error)         { return "", errors.ErrUnsupported }
func fileID(*os.File) (string, error) { return "", errors.ErrUnsupported }
