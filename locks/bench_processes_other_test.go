//go:build !linux

package locks_test

// processes skips: processes need net/shm.
func processes(r *report) { r.Skip("ranks can be processes of one machine only on Linux") }
