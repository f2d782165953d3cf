package arena

import (
	"math"
	"testing"

	"github.com/orwl/go-orwl/net/rma/model"
)

func TestLeastSquares(t *testing.T) {
	for _, c := range []struct {
		what string
		rows [][3]float64
		y    []float64
		want [3]float64
	}{
		{"exact", [][3]float64{{1, 2, 0}, {1, 3, 0}, {1, 0, 2}, {1, 0, 5}}, []float64{16, 19, 14, 20}, [3]float64{10, 3, 2}},
		{"the mean of two", [][3]float64{{1, 0, 0}, {1, 0, 0}}, []float64{4, 6}, [3]float64{5, 0, 0}},
		{"none is negative", [][3]float64{{1, 1, 0}, {1, 2, 0}, {1, 3, 0}}, []float64{9, 8, 7}, [3]float64{8, 0, 0}},
	} {
		got := leastSquares(c.rows, c.y)
		for i := range got {
			if math.Abs(got[i]-c.want[i]) > 1e-9 {
				t.Errorf("%s: %v, want %v", c.what, got, c.want)
				break
			}
		}
	}
}

// A free lock takes its accesses, and what the rank computes with each of them and in each turn.
func TestFreeLockTakesOwnInstructions(t *testing.T) {
	cost := model.Cost{Alpha: 10}
	machine := model.Model{Name: "toy", Direct: &model.Direct{Load: 1, Store: 5, Swap: 5},
		Levels: []model.LevelCost{{Level: model.Self, Put: cost, Get: cost, Atomic: cost, Coherent: true}}}
	free := func(lock string, own *model.Own) float64 {
		machine.Own = own
		took, err := Free(t.Context(), lock, Sim, machine)
		if err != nil {
			t.Fatal(err)
		}
		return took
	}
	for _, c := range []struct {
		lock                     string
		instructions, operations float64
	}{{"MCS", 3, 0}, {"D-MCS", 0, 3}} {
		plain := free(c.lock, nil)
		for _, own := range []model.Own{{Turn: 7.5}, {Instruction: 4}, {Operation: 4}} {
			want := plain + own.Turn + own.Instruction*c.instructions + own.Operation*c.operations
			if got := free(c.lock, &own); math.Abs(got-want) > .3 {
				t.Errorf("%s with %+v takes %v ns, want %v: without it takes %v", c.lock, own, got, want, plain)
			}
		}
	}
}
