//go:build !(linux && amd64)

package processor

const known = false

func cpu() int { return 0 }
