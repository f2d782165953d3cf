//go:build !linux

package locks_test

// processes need net/shm.
func processes(r *report) { r.Skip("ranks that are processes of one machine: only on Linux") }
