package sim_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"runtime"
	"testing"

	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/net/sim"
)

// TestSameOnEveryHost knows the outcome of predictions, to the operation and the
// nanosecond. The same seed gives the same prediction on any machine, whatever its number
// of processors, its map order and its rounding of fused multiply-adds. A change of the
// simulator or of a specimen changes the table: say so in the commit.
func TestSameOnEveryHost(t *testing.T) {
	rings.Computes(t)
	for _, c := range []struct {
		lock, machine string
		ranks         int
		seed          uint64
		ns            int64
		operations    int
	}{
		{"mcs-flushed", "piz-daint", 64, 1, 2840393, 8316},
		{"mcs-flushed", "coolmuc-2", 64, 2, 7498437, 8316},
		{"ticket", "piz-daint", 64, 3, 3633350, 115884},
		{"rw", "ethernet", 32, 4, 3346748, 2165},
	} {
		machine, err := sim.MachineByName(c.machine)
		if err != nil {
			t.Fatal(err)
		}
		for _, processors := range []int{1, 2, 7} {
			before := runtime.GOMAXPROCS(processors)
			p := contest(t, c.lock, c.ranks, 10).Predict(machine, c.seed)
			runtime.GOMAXPROCS(before)
			if p.Failure != nil {
				t.Fatal(p.Failure)
			}
			if p.Time.Nanoseconds() != c.ns || p.Operations != c.operations {
				t.Errorf("{%q, %q, %d, %d, %d, %d} on %d processors", c.lock, c.machine, c.ranks, c.seed, p.Time.Nanoseconds(), p.Operations, processors)
			}
		}
	}
}

// Virtual time has no floating-point numbers: a processor or compiler that fuses a
// multiplication and an addition would predict something else.
func TestVirtualTimeIsWhole(t *testing.T) {
	for _, file := range []string{"journey.go", "watch.go", "lines.go", "processors.go", "agenda.go", "predict.go"} {
		set := token.NewFileSet()
		parsed, err := parser.ParseFile(set, file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Ident:
				if n.Name == "float64" || n.Name == "float32" {
					t.Errorf("%s: %s: round it to picoseconds by ps", set.Position(n.Pos()), n.Name)
				}
			case *ast.BasicLit:
				if n.Kind == token.FLOAT {
					t.Errorf("%s: %s is no whole number", set.Position(n.Pos()), n.Value)
				}
			}
			return true
		})
	}
}
