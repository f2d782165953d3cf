package locks

import (
	"context"
	"testing"
)

// Epochs without readers take the counters further apart, one step each time, until there is one.
// A reader finds its counter closed and goes to that one. Many readers bring the counters back, and
// the reader returns to its own.
func TestReadersFollowCounters(t *testing.T) {
	for _, operations := range []bool{false, true} {
		for _, try := range []bool{false, true} {
			ctx := context.Background()
			all := adaptive(t, "core:4", Options{TDC: 1, Hysteresis: 2, Operations: operations})
			write := func(n int) {
				for range n {
					must(all[0].Acquire(ctx))
					all[0].Release()
				}
			}
			read := func(p, n int) {
				t.Helper()
				for range n {
					if !try {
						must(all[p].AcquireRead(ctx))
					} else if !all[p].TryAcquireRead() {
						t.Fatal("no writer has come, and a try to read fails")
					}
					all[p].ReleaseRead()
				}
			}
			at := func(p int, counter Rank) {
				t.Helper()
				if all[p].own.Target != counter {
					t.Errorf("operations=%t, try=%t: rank %d reads at counter %d, want %d", operations, try, p, all[p].own.Target, counter)
				}
			}
			read(3, 1)
			at(3, 3)
			write(2)
			read(3, 1)
			at(3, 2)
			write(2)
			read(3, 2)
			at(3, 0)
			for range 2 {
				read(3, 40)
				write(1)
			}
			must(all[3].AcquireRead(ctx)) // sees that counters are nearer
			all[3].ReleaseRead()
			for range 2 {
				must(all[3].AcquireRead(ctx))
				all[3].ReleaseRead()
				at(3, 2)
				read(3, 80)
				write(1)
			}
			for range 2 {
				must(all[3].AcquireRead(ctx))
				all[3].ReleaseRead()
			}
			at(3, 3)
		}
	}
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
