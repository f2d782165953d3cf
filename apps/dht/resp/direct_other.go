//go:build !linux

package resp

const writesNow = false

func writeNow(uintptr, [][]byte) int { return 0 }
