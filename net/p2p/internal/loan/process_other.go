//go:build !linux

package loan

// peerProcess is never opened on this system: no arena is mapped.
type peerProcess struct{}

func (peerProcess) Condition() Condition { return Stopped }
func (peerProcess) Close()               {}
