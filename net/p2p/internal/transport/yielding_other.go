//go:build !linux

package transport

// offerProcessor does nothing: package unix has no such call for these systems.
func offerProcessor() {}
