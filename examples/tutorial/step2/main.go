// Step 2 of the tutorial: the plate is cut into strips, and tasks sweep them.
//
//	go run ./examples/tutorial/step2
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/orwl/go-orwl/examples/tutorial/draw"
	"github.com/orwl/go-orwl/orwl"
	"github.com/orwl/go-orwl/resource"
)

const (
	size, sweeps = 48, 1000
	strips       = 4
	rows         = size / strips // of a strip
)

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	rt, err := orwl.New(orwl.Options{})
	if err != nil {
		return err
	}
	var even, odd [strips]*resource.Resource
	for s := range strips {
		even[s] = orwl.Array[float64](rt, fmt.Sprint("even ", s), rows*size)
		odd[s] = orwl.Array[float64](rt, fmt.Sprint("odd ", s), rows*size)
	}
	for s := range strips {
		declare(rt, fmt.Sprint("there ", s), s, even, odd)
	}
	for s := range strips {
		declare(rt, fmt.Sprint("back ", s), s, odd, even)
	}
	if err := rt.Run(ctx); err != nil {
		return err
	}

	var plate []float64
	for s := range strips {
		strip, err := orwl.Values[float64](ctx, even[s])
		if err != nil {
			return err
		}
		plate = append(plate, strip...)
	}
	draw.Plate(size, func(row, column int) float64 { return plate[row*size+column] })
	return nil
}

// declare declares the task that sweeps strip s.
func declare(rt *orwl.Runtime, name string, s int, from, to [strips]*resource.Resource) {
	t := rt.Task(name)
	here, next := orwl.Reads[float64](t, from[s]), orwl.Writes[float64](t, to[s])
	var above, below orwl.In[float64]
	if s > 0 {
		above = orwl.Reads[float64](t, from[s-1])
	}
	if s < strips-1 {
		below = orwl.Reads[float64](t, from[s+1])
	}
	// heat is the heat of a cell of the strip, or of a cell around it.
	heat := func(r, c int) float64 {
		switch {
		case c < 0 || c == size:
			return 0
		case r < 0 && s == 0:
			return 100
		case r < 0:
			return above.View().At((rows-1)*size + c)
		case r == rows && s == strips-1:
			return 0
		case r == rows:
			return below.View().At(c)
		}
		return here.View().At(r*size + c)
	}
	t.Each(sweeps/2, func(int) error {
		cells := next.Slice()
		for r := range rows {
			for c := range size {
				around := heat(r-1, c) + heat(r+1, c) + heat(r, c-1) + heat(r, c+1)
				cells[r*size+c] = heat(r, c) + 0.2*(around-4*heat(r, c))
			}
		}
		return nil
	})
}
