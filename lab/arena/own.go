package arena

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/orwl/go-orwl/lab"
	"github.com/orwl/go-orwl/net/rma/model"
)

// A rank's own instructions are measured with free locks: one rank takes and releases a lock again and
// again. A turn takes as long as its accesses in the model, and
//
//	turn + instruction * atomic instructions + operation * operations of the window
//
// The locks have different numbers of both, so least squares give the three.

// freeLocks are the locks to measure with. orwl-lab model -validate does not compare them by default.
var freeLocks = []string{"TAS", "TKT-A", "CLH-NUMA", "HEM", "C-TKT-TKT", "C-TKT-CLH", "C-MCS-HEM", "foMPI-Spin", "D-MCS-Acc", "dash::Mutex"}

// FreeLength is how long a free lock is played.
var FreeLength = lab.Length{Time: 2 * time.Millisecond, Repeats: 15, Seed: 1, Unchecked: true, Uncounted: true}

// Own measures what ranks compute besides the accesses that the machine has costs for.
func Own(ctx context.Context, machine model.Model) (*model.Own, error) {
	var rows [][3]float64
	var took []float64
	for _, lock := range freeLocks {
		measured, err := Free(ctx, lock, Mem, model.Model{})
		if err != nil {
			return nil, err
		}
		row := [3]float64{1}
		plain, err := Free(ctx, lock, Sim, withOwn(machine, 0, 0))
		if err != nil {
			return nil, err
		}
		const one = 100 // ns
		for i, own := range [][2]float64{{one, 0}, {0, one}} {
			more, err := Free(ctx, lock, Sim, withOwn(machine, own[0], own[1]))
			if err != nil {
				return nil, err
			}
			row[i+1] = (more - plain) / one
		}
		rows, took = append(rows, row), append(took, measured-plain)
	}
	x := leastSquares(rows, took)
	own := withOwn(machine, x[1], x[2]).Own
	own.Turn = x[0]
	return own, nil
}

// withOwn is the machine with some time for each instruction and operation, and with what the meter has
// measured.
func withOwn(machine model.Model, instruction, operation float64) model.Model {
	own := model.Own{}
	if machine.Own != nil {
		own = *machine.Own
	}
	own.Turn, own.Instruction, own.Operation = 0, instruction, operation
	machine.Own = &own
	return machine
}

// Free is how long one rank alone takes to acquire and release a lock, with the benchmark's loop, in
// nanoseconds: the least of some repeats, since other work makes them longer.
func Free(ctx context.Context, lock, window string, machine model.Model) (float64, error) {
	c := lab.Case{Benchmark: "ECSB", Lock: lock, Window: window, Machine: "node:1 core:1", Writers: 1, Length: FreeLength}
	if window == Sim {
		c.Time, c.Repeats = 200*time.Microsecond, 1
	}
	samples, err := Play(ctx, c, Options{Machine: machine})
	if err != nil {
		return 0, err
	}
	least := math.Inf(1)
	for _, s := range samples {
		if s.Turns > 0 {
			least = min(least, float64(s.Time)/float64(s.Turns))
		}
	}
	if math.IsInf(least, 1) {
		return 0, fmt.Errorf("arena: one rank alone had no turn of %s in %v", lock, c.Time)
	}
	return least, nil
}

// leastSquares is the x with the least squares of rows·x - y. No x is negative: one that would be is
// 0, and the others do without it.
func leastSquares(rows [][3]float64, y []float64) (x [3]float64) {
	use := []int{0, 1, 2}
	for len(use) > 0 {
		some := solve(normal(rows, y, use))
		worst := slices.Index(some, slices.Min(some))
		if some[worst] >= 0 {
			for i, k := range use {
				x[k] = some[i]
			}
			return x
		}
		use = slices.Delete(use, worst, worst+1)
	}
	return x
}

// normal are the normal equations of some of the unknowns. The last column is the right side.
func normal(rows [][3]float64, y []float64, use []int) [][]float64 {
	equations := make([][]float64, len(use))
	for i, a := range use {
		equations[i] = make([]float64, len(use)+1)
		for k, row := range rows {
			for j, b := range use {
				equations[i][j] += row[a] * row[b]
			}
			equations[i][len(use)] += row[a] * y[k]
		}
	}
	return equations
}

// solve is Gauss' elimination. An unknown that the equations say nothing about is 0.
func solve(equations [][]float64) []float64 {
	n := len(equations)
	for i := range n {
		pivot := equations[i][i]
		if pivot < 1e-9 {
			continue
		}
		for k := range n {
			if f := equations[k][i] / pivot; k != i {
				for j := range n + 1 {
					equations[k][j] -= f * equations[i][j]
				}
			}
		}
	}
	x := make([]float64, n)
	for i, e := range equations {
		if e[i] > 1e-9 {
			x[i] = e[n] / e[i]
		}
	}
	return x
}
