//go:build !linux

package loan

// peerProcess is never opened on this system: nobody maps an arena.
type peerProcess struct{}

func (peerProcess) Condition() Condition { return Stopped }
func (peerProcess) Close()               {}
