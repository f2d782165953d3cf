//go:build !linux

package topology

func pin() bool { return false }
