//go:build !unix

package launch

import (
	"context"
	"io/fs"
	"os"
)

// Spawn is for systems whose processes inherit pipes.
func Spawn(context.Context, Run) error { return ErrUnsupported }

func signalNumber(os.Signal) int { return 0 }

// inheritedKey has no pipe to come by.
func inheritedKey() ([]byte, error) { return nil, ErrUnsupported }

func report(string) error { return ErrUnsupported }

func reportGoOn() error { return ErrUnsupported }

func reportDone() error { return ErrUnsupported }

func reportProgress(int, Progress) error { return ErrUnsupported }

// checkPrivate has nothing to go by: these systems do not keep secrets by mode bits.
func checkPrivate(fs.FileInfo) error { return nil }
