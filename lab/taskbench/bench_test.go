package taskbench

import (
	"errors"
	"fmt"
	"runtime"
	"testing"

	"github.com/orwl/go-orwl/internal/native"
)

// BenchmarkStencil is the time of a processor for a task of a stencil whose kernel is empty, in
// each system.
func BenchmarkStencil(b *testing.B) {
	workers := runtime.GOMAXPROCS(0)
	for _, width := range []int{2, 16, 256} {
		for _, s := range systems {
			b.Run(fmt.Sprintf("%d/%s", width, s.name), func(b *testing.B) {
				system, err := Open(s.name, Options{Workers: workers})
				if errors.Is(err, native.ErrMissing) {
					b.Skip(err)
				}
				if err != nil {
					b.Fatal(err)
				}
				defer system.Close()
				schedule := scheduled(b, named(b, "stencil_1d", width, 20_000/width, Empty))
				var took float64
				for b.Loop() {
					r, err := system.Run(b.Context(), []*Schedule{schedule})
					if err != nil {
						b.Fatal(err)
					}
					took += float64(r.Elapsed.Nanoseconds()) / float64(r.Tasks)
				}
				b.ReportMetric(took*float64(workers)/float64(b.N), "ns/task")
			})
		}
	}
}
