//go:build amd64 || arm64

package direct

// relax tells the processor n times that this is a spin loop.
//
//go:noescape
func relax(n uint32)
