package orwl_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/orwl/go-orwl/orwl"
	"github.com/orwl/go-orwl/resource"
)

// A ring of averages: listing 7 of the paper as a program. Each task owns a resource
// and replaces its value by the average with its neighbour's.
func Example() {
	const tasks = 4
	rt, err := orwl.New(orwl.Options{})
	must(err)
	values := make([]*resource.Resource, tasks)
	for i := range values {
		values[i] = orwl.Array[float64](rt, fmt.Sprintf("value %d", i), 1)
	}
	result := make([]float64, tasks)
	for i := range tasks {
		t := rt.Task(fmt.Sprintf("task %d", i))
		here := orwl.Writes[float64](t, values[i])
		there := orwl.Reads[float64](t, values[(i+1)%tasks])
		t.Each(100, func(round int) error {
			mine, theirs := here.Slice(), there.View()
			if round == 0 {
				mine[0] = float64(i)
			} else {
				mine[0] = (mine[0] + theirs.At(0)) / 2
			}
			result[i] = mine[0]
			return nil
		})
	}
	must(rt.Run(context.Background()))
	fmt.Printf("%.4f\n", result)
	// Output:
	// [1.7143 1.7143 1.7143 1.7143]
}

// The next step of a program may depend on a result. So a program runs in stages: each is declared when the
// one before has ended, works on the same resources, and is proven alive before it starts.
func ExampleRuntime_Run_stages() {
	rt, err := orwl.New(orwl.Options{})
	must(err)
	cell := orwl.Array[int64](rt, "cell", 1)
	for value := int64(1); value < 100; {
		double := rt.Task("double")
		out := orwl.Writes[int64](double, cell)
		double.Each(3, func(int) error { out.Slice()[0] = 2*out.Slice()[0] + 1; return nil })
		must(rt.Run(context.Background()))
		v, err := orwl.Values[int64](context.Background(), cell)
		must(err)
		value = v[0]
		fmt.Println(value)
	}
	// Output:
	// 7
	// 63
	// 511
}

// A state tells which task waits for which. When nothing moves for a while, the runtime
// reports that itself: see [orwl.Options].
func ExampleRuntime_Inspect() {
	stop := errors.New("seen enough")
	rt, err := orwl.New(orwl.Options{})
	must(err)
	data := orwl.Array[float64](rt, "data", 1)
	reader, writer := rt.Task("reader"), rt.Task("writer")
	orwl.Reads[float64](reader, data)
	orwl.Writes[float64](writer, data)
	reader.Each(4, func(round int) error {
		if round == 0 {
			fmt.Print(rt.Inspect())
			return stop
		}
		return nil
	})
	writer.Each(4, func(int) error { return nil })
	err = rt.Run(context.Background())
	fmt.Println(errors.Is(err, stop), err)
	// Output:
	// reader, round 0, holds data, works
	// writer, round 0, waits to write data ──▶ reader
	// true orwl: task "reader": seen enough
}
