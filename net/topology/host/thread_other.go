//go:build !linux

package host

import (
	"errors"
	"runtime"

	"github.com/orwl/go-orwl/net/topology"
)

func detectHere() (*topology.Tree, error) { return topology.Flat(runtime.NumCPU()), nil }

// pinThread always fails. Detect gives no CPU numbers here, so Pin does not come
// this far.
func pinThread(p topology.Rank, cpu int) (restore func() bool, err error) {
	return nil, &PinError{Rank: p, CPU: cpu, Err: errors.ErrUnsupported}
}
