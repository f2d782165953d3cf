//go:build !amd64 && !arm64

package goroutine

// Number is 0: nothing tells goroutines apart here, and the use of another task's access is not noticed.
func Number() uint64 { return 0 }
