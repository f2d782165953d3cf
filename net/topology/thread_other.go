//go:build !linux

package topology

import (
	"errors"
	"runtime"
)

func detectHost() (*Tree, error) { return Flat(runtime.NumCPU()), nil }

// pinThread always fails. Detect gives no CPU numbers here, so Pin does not come
// this far.
func pinThread(p Rank, cpu int) (restore func() bool, err error) {
	return nil, &PinError{Rank: p, CPU: cpu, Err: errors.ErrUnsupported}
}
