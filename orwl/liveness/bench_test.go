package liveness

import (
	"fmt"
	"testing"

	"github.com/orwl/go-orwl/resource"
)

// ringSystem is n tasks in a circle. Each task writes its own resource and reads the
// resources of the next three tasks.
func ringSystem(n int) System { return stencilSystem(n, 1, 2, 3) }

// gridSystem is n tasks in rows of w. Each task writes its own resource and reads its
// neighbours to the east, to the south and to the south-east.
func gridSystem(n, w int) System { return stencilSystem(n, 1, w, w+1) }

func stencilSystem(n int, offsets ...int) System {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("block%d", i)
	}
	s := System{Tasks: make([]Task, n)}
	for i := range s.Tasks {
		accesses := []Access{{Resource: names[i], Mode: resource.Write}}
		for _, d := range offsets {
			accesses = append(accesses, Access{Resource: names[(i+d)%n]})
		}
		s.Tasks[i] = Task{Name: fmt.Sprintf("task%d", i), Accesses: accesses}
	}
	return s
}

// BenchmarkCheck checks stencils of 10,000 and 100,000 tasks with four accesses
// each. In ring, grid and hub only one task can fire at first. In priorities half of
// the tasks have a lower priority, so many tasks can fire at once. In dead one cycle
// goes through all tasks.
func BenchmarkCheck(b *testing.B) {
	for _, n := range []int{10_000, 100_000} {
		by := gridSystem(n, 100)
		for t := range by.Tasks {
			for a := range by.Tasks[t].Accesses {
				by.Tasks[t].Accesses[a].Priority = t % 2
			}
		}
		hub := gridSystem(n, 100)
		for t := range hub.Tasks {
			hub.Tasks[t].Accesses[3] = Access{Resource: "hub", Mode: resource.Mode(min(t%100, 1) ^ 1)}
		}
		for _, c := range []struct {
			name  string
			s     System
			alive bool
		}{{"ring", ringSystem(n), true}, {"grid", gridSystem(n, 100), true}, {"priorities", by, true}, {"hub", hub, true}, {"dead", philosophers(2 * n), false}} {
			b.Run(fmt.Sprintf("%s-%d", c.name, n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if err := c.s.Check(); (err == nil) != c.alive {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Microseconds())/1000/float64(b.N), "ms/op")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}
