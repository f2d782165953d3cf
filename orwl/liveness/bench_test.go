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

// prioritySystem is a grid in which every second task has a lower priority.
func prioritySystem(n int) System {
	s := gridSystem(n, 100)
	for t := range s.Tasks {
		for a := range s.Tasks[t].Accesses {
			s.Tasks[t].Accesses[a].Priority = t % 2
		}
	}
	return s
}

// hubSystem is a grid in which all tasks use one resource, and one in a hundred writes it.
func hubSystem(n int) System {
	s := gridSystem(n, 100)
	for t := range s.Tasks {
		s.Tasks[t].Accesses[3] = Access{Resource: "hub", Mode: resource.Mode(min(t%100, 1) ^ 1)}
	}
	return s
}

// facesSystem is side × side blocks in a torus, as a stencil of package stencil. Each block
// writes eight resources of its own, one for each neighbour, and reads one of each
// neighbour.
func facesSystem(side int) System {
	names := make([]string, 8*side*side)
	for i := range names {
		names[i] = fmt.Sprintf("block %d,%d face %d", i/8/side, i/8%side, i%8)
	}
	name := func(row, col, face int) string {
		return names[8*((row+side)%side*side+(col+side)%side)+face]
	}
	var s System
	for b := range side * side {
		task := Task{Name: fmt.Sprintf("block %d", b)}
		for face := range 8 {
			task.Accesses = append(task.Accesses, Access{Resource: name(b/side, b%side, face), Mode: resource.Write})
		}
		for face := range 8 {
			cell := face + face/4 // of the nine around the block, without the middle
			task.Accesses = append(task.Accesses, Access{Resource: name(b/side+cell/3-1, b%side+cell%3-1, 7-face)})
		}
		s.Tasks = append(s.Tasks, task)
	}
	return s
}

// BenchmarkCheck checks stencils of 10,000 and 100,000 tasks with four accesses
// each. In ring, grid and hub only one task can fire at first. In priorities half of
// the tasks have a lower priority, so many tasks can fire at once. In dead one cycle
// goes through all tasks. Faces are 65,536 and 1,048,576 accesses to half as many resources.
func BenchmarkCheck(b *testing.B) {
	for _, n := range []int{10_000, 100_000} {
		for _, c := range []struct {
			name  string
			made  func() System
			alive bool
		}{
			{"ring", func() System { return ringSystem(n) }, true},
			{"grid", func() System { return gridSystem(n, 100) }, true},
			{"priorities", func() System { return prioritySystem(n) }, true},
			{"hub", func() System { return hubSystem(n) }, true},
			{"dead", func() System { return philosophers(2 * n) }, false},
		} {
			b.Run(fmt.Sprintf("%s-%d", c.name, n), func(b *testing.B) { benchmarkCheck(b, c.made(), c.alive) })
		}
	}
	for _, side := range []int{64, 256} {
		b.Run(fmt.Sprintf("faces-%d", side*side), func(b *testing.B) { benchmarkCheck(b, facesSystem(side), true) })
	}
}

func benchmarkCheck(b *testing.B, s System, alive bool) {
	b.ReportAllocs()
	for b.Loop() {
		if err := s.Check(); (err == nil) != alive {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/1000/float64(b.N), "ms/op")
	b.ReportMetric(0, "ns/op")
}
