// Step 6 of the tutorial: three ways to watch the strips of step 2.
//
//	go run ./examples/tutorial/step6 -look -trace plate.json
//	go run ./examples/tutorial/step6 -slow -metrics 127.0.0.1:9464
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/orwl/go-orwl/examples/tutorial/draw"
	"github.com/orwl/go-orwl/metrics"
	"github.com/orwl/go-orwl/orwl"
	"github.com/orwl/go-orwl/orwl/trace"
	"github.com/orwl/go-orwl/orwl/watch"
	"github.com/orwl/go-orwl/resource"
)

const (
	size, sweeps = 48, 1000
	strips       = 4
	rows         = size / strips // of a strip
)

var (
	look    = flag.Bool("look", false, "print once what all tasks do")
	slow    = flag.Bool("slow", false, "take some seconds")
	address = flag.String("metrics", "", "serve metrics at this host:port")
	file    = flag.String("trace", "", "write a trace to this file")
)

func main() {
	flag.Parse()
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	registry := prometheus.NewRegistry()
	counts, err := metrics.New(metrics.Options{Registerer: registry, Tasks: true})
	if err != nil {
		return err
	}
	recorder, err := trace.NewRecorder(trace.Options{})
	if err != nil {
		return err
	}
	rt, err := orwl.New(orwl.Options{Observers: []orwl.Observer{counts, recorder}})
	if err != nil {
		return err
	}
	counts.Watch(rt)
	if *address != "" {
		server, err := metrics.Serve(ctx, metrics.ServerOptions{
			Address: *address, Gatherer: registry, Inspect: func() any { return rt.Inspect() },
			Watch: watch.New(func() *orwl.Runtime { return rt }),
		})
		if err != nil {
			return err
		}
		defer server.Close()
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
	return write(recorder.Trace())
}

// write writes the trace to the file that -trace names.
func write(t *trace.Trace) error {
	if *file == "" {
		return nil
	}
	to, err := os.Create(*file)
	if err != nil {
		return err
	}
	return errors.Join(t.WriteChrome(to), to.Close())
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
	t.Each(sweeps/2, func(round int) error {
		if *look && round == 250 && name == "there 1" {
			fmt.Println(rt.InspectAll(context.Background()).Why())
			fmt.Print(rt.Inspect())
		}
		if *slow && name == "there 0" {
			time.Sleep(10 * time.Millisecond) // the other tasks wait for this one
		}
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
