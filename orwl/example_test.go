package orwl_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/orwl/go-orwl/orwl"
)

// A ring of averages: listing 7 of the paper as a program. Each task owns a resource
// and replaces its value by the average with its neighbour's.
func Example() {
	const tasks = 4
	rt, err := orwl.New(orwl.Options{})
	must(err)
	for i := range tasks {
		rt.Resource(fmt.Sprintf("value %d", i), 8)
	}
	result := make([]float64, tasks)
	for i := range tasks {
		t := rt.Task(fmt.Sprintf("task %d", i))
		here := t.Write(rt.Lookup(fmt.Sprintf("value %d", i)))
		there := t.Read(rt.Lookup(fmt.Sprintf("value %d", (i+1)%tasks)))
		t.Do(func(t *orwl.Task) error {
			for round := range t.Rounds(100) {
				mine, theirs := orwl.Write[float64](here), orwl.Read[float64](there)
				if round == 0 {
					mine[0] = float64(i)
				} else {
					mine[0] = (mine[0] + theirs.At(0)) / 2
				}
				result[i] = mine[0]
			}
			return nil
		})
	}
	must(rt.Run(context.Background()))
	fmt.Printf("%.4f\n", result)
	// Output:
	// [1.7143 1.7143 1.7143 1.7143]
}

// The tasks take turns in the order in which they were declared, round by round.
func ExampleTask_Rounds() {
	rt, err := orwl.New(orwl.Options{})
	must(err)
	stone := rt.Resource("stone", 0)
	for _, name := range []string{"first", "second"} {
		t := rt.Task(name)
		t.Write(stone)
		t.Do(func(t *orwl.Task) error {
			for round := range t.Rounds(2) {
				fmt.Println(round, t.Name())
			}
			return nil
		})
	}
	must(rt.Run(context.Background()))
	// Output:
	// 0 first
	// 0 second
	// 1 first
	// 1 second
}

// With priorities, a task may have its turn before others that were declared earlier,
// as long as the tasks do not wait in a circle.
func ExampleAccess_Priority() {
	program := func(eat func(name string), late int) *orwl.Runtime {
		rt, err := orwl.New(orwl.Options{})
		must(err)
		left, right := rt.Resource("left fork", 0), rt.Resource("right fork", 0)
		for i, name := range []string{"Ana", "Ben"} {
			t := rt.Task(name)
			t.Write(left).Priority(-i)
			t.Write(right).Priority(late * i)
			t.Do(func(t *orwl.Task) error {
				for range t.Rounds(1) {
					eat(t.Name())
				}
				return nil
			})
		}
		return rt
	}
	eat := func(name string) { fmt.Println(name, "eats") }
	must(program(eat, -1).Run(context.Background()))
	fmt.Println(program(eat, 1).Run(context.Background()))
	// Output:
	// Ben eats
	// Ana eats
	// liveness: deadlock: of 2 tasks, 2 would wait for ever:
	// 	Ana waits to write "left fork" (access 1), which Ben holds to write (access 1)
	// 	Ben waits to write "right fork" (access 2), which Ana holds to write (access 2)
	// 	give the accesses of this cycle other priorities, or none: then the tasks take turns in their order
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
	data := rt.Resource("data", 0)
	reader, writer := rt.Task("reader"), rt.Task("writer")
	reader.Read(data)
	writer.Write(data)
	reader.Do(func(t *orwl.Task) error {
		for range t.Rounds(-1) {
			if t.Round() == 3 {
				fmt.Print(rt.Inspect())
				return stop
			}
		}
		return nil
	})
	writer.Do(func(t *orwl.Task) error {
		for range t.Rounds(-1) {
		}
		return nil
	})
	err = rt.Run(context.Background())
	fmt.Println(errors.Is(err, stop), err)
	// Output:
	// reader, round 3, holds data, works
	// writer, round 3, waits to write data ──▶ reader
	// true orwl: task "reader": seen enough
}
