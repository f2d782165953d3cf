//go:build !unix

package launch

import (
	"context"
	"os"
)

// Spawn is for systems whose processes inherit pipes.
func Spawn(context.Context, Run) error { return ErrUnsupported }

func signalNumber(os.Signal) int { return 0 }
