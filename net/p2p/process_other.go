//go:build !linux

package p2p

// peerProcess is never opened on this system: nobody maps an arena.
type peerProcess struct{}

func (peerProcess) condition() condition { return stopped }
func (peerProcess) close()               {}
