package fair

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/orwl/go-orwl/orwl"
	"github.com/orwl/go-orwl/orwl/stencil"
)

// cubeCase is a cube whose cells become the mean of their six neighbours, as in examples/jacobi3d.
func cubeCase() Case {
	const side, sweeps = 192, 40
	return Case{
		Name: "cube", Unit: "ns for each cell and sweep",
		Work: fmt.Sprintf("%d cells on a side, each becomes the mean of its six neighbours, %d sweeps", side, sweeps),
		Open: func(_ context.Context, s *Shop) ([]Contender, error) {
			var all []Contender
			for _, deep := range []int{0, 1, 4, 8} {
				name := "ours"
				if deep > 0 {
					name = fmt.Sprintf("ours, %d in a pass", deep)
				}
				all = append(all, Contender{name, "orwl/stencil, Apply", func(ctx context.Context) (float64, error) { return cube(ctx, side, sweeps, deep) }})
			}
			for _, deep := range []string{"1", "4", "8"} {
				all = append(all, s.peer("C, "+deep+" in a pass", "cube", strconv.Itoa(side), strconv.Itoa(sweeps), deep))
			}
			return all, nil
		},
	}
}

// cube sweeps a cube, and returns the time of a cell and sweep. The clock runs from the start of the tasks, as in the peer.
func cube(ctx context.Context, side, sweeps, deep int) (float64, error) {
	rt, err := orwl.New(orwl.Options{})
	if err != nil {
		return 0, err
	}
	g := stencil.New(rt, stencil.Options{Size: stencil.Size{side, side, side}, Sweeps: deep})
	u := stencil.NewField(g, "u", stencil.FieldOptions[float64]{Halo: stencil.Around(1), Initial: func(at []int) float64 { return float64(max(0, -at[0])) }})
	var mean []stencil.Weight
	for dim := range 3 {
		for _, step := range []int{-1, 1} {
			at := make([]int, 3)
			at[dim] = step
			mean = append(mean, stencil.Weight{At: at, Times: 1. / 6})
		}
	}
	if err := g.Sweep(sweeps, func(b *stencil.Block) { stencil.Apply(b, u, u, 0, mean) }); err != nil {
		return 0, err
	}
	begin := time.Now()
	if err := rt.Run(ctx); err != nil {
		return 0, err
	}
	return float64(time.Since(begin).Nanoseconds()) / float64(side*side*side*sweeps), nil
}
