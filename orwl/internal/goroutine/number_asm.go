//go:build amd64 || arm64

package goroutine

// Number is a number of the calling goroutine: two that exist at the same time have different ones. It is where the
// runtime keeps the goroutine, and is only compared.
func Number() uint64
