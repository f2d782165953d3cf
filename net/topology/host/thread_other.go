//go:build !linux

package host

import (
	"errors"
	"runtime"

	"github.com/orwl/go-orwl/net/topology"
)

func detectHere() (*topology.Tree, error) { return topology.Flat(runtime.NumCPU()), nil }

// Bind always fails.
func Bind([]int) (unbind func(), err error) { return nil, errors.ErrUnsupported }

// pinThread always fails. Pin calls it only for a tree with CPU numbers from
// another source, since Detect has none here.
func pinThread(p topology.Rank, cpu int) (restore func() bool, err error) {
	return nil, &PinError{Rank: p, CPU: cpu, Err: errors.ErrUnsupported}
}
