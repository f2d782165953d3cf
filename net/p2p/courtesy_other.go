//go:build !linux

package p2p

// offerProcessor does nothing: package unix has no such call for these systems.
func offerProcessor() {}
