//go:build !linux

package topology

import "errors"

// pinThread always fails. Detect gives no CPU numbers here, so Pin does not come
// this far.
func pinThread(p Rank, cpu int) (restore func() bool, err error) {
	return nil, &PinError{Rank: p, CPU: cpu, Err: errors.ErrUnsupported}
}
