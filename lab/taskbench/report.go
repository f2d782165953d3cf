package taskbench

import (
	"fmt"
	"io"
	"time"
)

// Describe writes the configuration in the lines of Task Bench. With detail 1 there are the
// dependences of each step, with 2 also what reads each task.
func Describe(w io.Writer, graphs []*Schedule, detail int) {
	fmt.Fprintf(w, "Running Task Benchmark\n  Configuration:\n")
	for i, s := range graphs {
		fmt.Fprintf(w, "    Task Graph %d:\n", i+1)
		for _, line := range []struct {
			name  string
			value any
		}{
			{"Time Steps", s.Steps}, {"Max Width", s.Width}, {"Dependence Type", s.Pattern.Name},
			{"Radix", s.Radix}, {"Period", s.Period}, {"Fraction Connected", fmt.Sprintf("%f", s.Fraction)},
		} {
			fmt.Fprintf(w, "      %s: %v\n", line.name, line.value)
		}
		k := s.Kernel
		fmt.Fprintf(w, "      Kernel:\n        Type: %v\n        Iterations: %d\n        Samples: %d\n        Imbalance: %f\n", k.Type, k.Iterations, k.Samples, k.Imbalance)
		fmt.Fprintf(w, "      Output Bytes: %d\n      Scratch Bytes: %d\n", s.Output, s.Scratch)
		for step := range s.Steps {
			if detail > 0 {
				s.describe(w, step, detail)
			}
		}
	}
}

// describe writes the dependences of a step.
func (s *Schedule) describe(w io.Writer, step, detail int) {
	first, count := s.Active(step)
	before, many := s.Active(step - 1)
	fmt.Fprintf(w, "      Timestep %d (offset %d, width %d, last offset %d, last width %d):\n        Points:", step, first, count, before, many)
	for c := first; c < first+count; c++ {
		fmt.Fprintf(w, " %d", c)
	}
	fmt.Fprintf(w, "\n        Dependencies:\n")
	for c := first; c < first+count; c++ {
		writePoint(w, c, s.inputsOf(step, c))
	}
	if detail < 2 {
		return
	}
	fmt.Fprintf(w, "        Reverse Dependencies:\n")
	read := make(map[int][]int)
	for c := first; c < first+count; c++ {
		for _, d := range s.inputsOf(step, c) {
			read[d] = append(read[d], c)
		}
	}
	for d := before; d < before+many; d++ {
		writePoint(w, d, read[d])
	}
}

func writePoint(w io.Writer, c int, others []int) {
	fmt.Fprintf(w, "          Point %d:", c)
	for _, d := range others {
		fmt.Fprintf(w, " %d", d)
	}
	fmt.Fprintln(w)
}

// Report writes a result in the lines of Task Bench. Its columns are dealt to so many nodes; with
// 0 nodes nothing is local or not.
func Report(w io.Writer, graphs []*Schedule, nodes int, r Result) {
	var sum Totals
	var local, nonlocal int64 // bytes
	for _, s := range graphs {
		t := s.Totals(nodes)
		sum.Tasks, sum.Dependencies = sum.Tasks+t.Tasks, sum.Dependencies+t.Dependencies
		sum.Flops, sum.Bytes = sum.Flops+t.Flops, sum.Bytes+t.Bytes
		sum.Local, sum.Nonlocal = sum.Local+t.Local, sum.Nonlocal+t.Nonlocal
		local, nonlocal = local+t.Local*int64(s.Output), nonlocal+t.Nonlocal*int64(s.Output)
	}
	took := r.Elapsed.Seconds()
	fmt.Fprintf(w, "Total Tasks %d\nTotal Dependencies %d\n", sum.Tasks, sum.Dependencies)
	if nodes > 0 {
		fmt.Fprintf(w, "  Local Dependencies %d (estimated)\n  Nonlocal Dependencies %d (estimated)\n  Number of Nodes (used for estimate) %d\n", sum.Local, sum.Nonlocal, nodes)
	} else {
		fmt.Fprintf(w, "  Unable to estimate local/nonlocal dependencies\n")
	}
	fmt.Fprintf(w, "Total FLOPs %d\nTotal Bytes %d\nElapsed Time %e seconds\n", sum.Flops, sum.Bytes, took)
	fmt.Fprintf(w, "FLOP/s %e\nB/s %e\nTransfer (estimated):\n", float64(sum.Flops)/took, float64(sum.Bytes)/took)
	if nodes > 0 {
		fmt.Fprintf(w, "  Local Bytes %d\n  Nonlocal Bytes %d\n  Local Bandwidth %e B/s\n  Nonlocal Bandwidth %e B/s\n", local, nonlocal, float64(local)/took, float64(nonlocal)/took)
	} else {
		fmt.Fprintf(w, "  Unable to estimate local/nonlocal transfer\n")
	}
	fmt.Fprintf(w, "Checksum %016x\n", r.Checksum)
}

// Write writes the outcome of a sweep: a line, and the points if they are wanted.
func (m METG) Write(w io.Writer, system string, points bool) {
	fmt.Fprintf(w, "%-16s %12.1f ns   peak %.4g iterations/s\n", system, m.Granularity, m.Peak)
	for _, p := range m.Points {
		if points {
			fmt.Fprintf(w, "  %10d iterations  %12v each  %6.1f %%  %v\n", p.Iterations, p.Granularity, 100*p.Efficiency, p.Elapsed.Round(time.Microsecond))
		}
	}
}
