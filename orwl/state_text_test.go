package orwl

import (
	"context"
	"fmt"
	"reflect"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/orwl/go-orwl/orwl/inspect"
)

// halting declares a program that stands still in each of three rounds, until a
// value is sent: a holds x and z and works, b holds y and waits for x, c waits for
// y, d holds z and waits for x first, e has nothing to do with it, f works
// meanwhile, and g waits for it.
func halting(t testing.TB, o Options) (rt *Runtime, goOn chan struct{}) {
	processors := runtime.GOMAXPROCS(4) // so many workers
	t.Cleanup(func() { runtime.GOMAXPROCS(processors) })
	rt, goOn = mustNew(t, o), make(chan struct{})
	done := make(chan struct{})
	x, y, z, u := rt.Resource("x", 0), rt.Resource("y", 0), rt.Resource("z", 0), rt.Resource("u", 0)
	a, b, c, d, e := rt.Task("a"), rt.Task("b"), rt.Task("c"), rt.Task("d"), rt.Task("e")
	f, g := rt.Task("f"), rt.Task("g")
	a.Write(x)
	a.Read(z)
	b.Write(y)
	b.Read(x)
	c.Read(y)
	d.Read(z)
	d.Read(x)
	d.Read(y) // waits for this, too
	f.Write(u)
	g.Read(u)
	a.Each(3, func(round int) error {
		<-time.After(time.Millisecond)
		<-goOn
		if round == 2 {
			close(done)
		}
		return nil
	})
	for _, t := range []*Task{b, c, d, g} {
		t.Each(3, func(int) error {
			<-time.After(time.Millisecond) // of the bubble: a long body, so that other workers help
			return nil
		})
	}
	e.Do(func(*Task) error { <-done; return nil })
	f.Each(1, func(int) error { <-done; return nil })
	return rt, goOn
}

func TestInspectText(t *testing.T) {
	const pause = 5 * time.Millisecond // of the bubble: all that can happen does
	synctest.Test(t, func(t *testing.T) {
		rt, goOn := halting(t, Options{Stall: -1})
		ran := make(chan error)
		go func() { ran <- rt.Run(context.Background()) }()
		<-time.After(pause)
		behind := func(r string, tasks ...string) *inspect.WaitState {
			return &inspect.WaitState{Resource: r, Mode: "read", Behind: tasks}
		}
		want := []inspect.TaskState{
			{Task: "a", Rounds: 3, State: inspect.TaskWorking, Holds: []string{"x", "z"}},
			{Task: "b", Rounds: 3, State: inspect.TaskWaiting, Holds: []string{"y"}, Waits: behind("x", "a")},
			{Task: "c", Rounds: 3, State: inspect.TaskWaiting, Holds: []string{}, Waits: behind("y", "b")},
			{Task: "d", Rounds: 3, State: inspect.TaskWaiting, Holds: []string{"z"}, Waits: behind("x", "a")},
			{Task: "e", State: inspect.TaskWorking, Holds: []string{}},
			{Task: "f", Rounds: 1, State: inspect.TaskWorking, Holds: []string{"u"}},
			{Task: "g", Rounds: 3, State: inspect.TaskWaiting, Holds: []string{}, Waits: behind("u", "f")},
		}
		for round := range int64(3) {
			since := ""
			if round > 0 { // f and g were seen before as they are
				still := inspect.Seconds{Duration: time.Duration(round) * pause}
				want[5].For, want[6].For, want[6].Waits.For = still, still, still
				since = fmt.Sprintf(" for %v", still.Duration)
			}
			got := rt.Inspect()
			if !reflect.DeepEqual(got.Tasks, want) {
				t.Errorf("%+v, want %+v", got.Tasks, want)
			}
			text := fmt.Sprintf(`a, round %[1]d, holds x z, works
e, round 0, works
f, round 0, holds u, works
b, round %[1]d, holds y, waits to read x ──▶ a
c, round %[1]d, waits to read y ──▶ b
d, round %[1]d, holds z, waits to read x ──▶ a
g, round 0, waits to read u%[2]s ──▶ f
`, round, since)
			if got.String() != text {
				t.Errorf("%v, want\n%s", got, text)
			}
			goOn <- struct{}{}
			<-time.After(pause)
			for i := range want[:4] {
				want[i].Round++
			}
		}
		if err := <-ran; err != nil {
			t.Error(err)
		}
		if report := rt.Inspect(); report.Running || report.String() != "" {
			t.Errorf("still running:\n%v", report)
		}
	})
}

// Two tasks that can read wait for no task, and a writer waits for both.
func TestInspectTextOfReaders(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2)) // a worker for each reader
	synctest.Test(t, func(t *testing.T) {
		rt := mustNew(t, Options{Stall: -1})
		r := rt.Resource("r", 0)
		goOn := make(chan struct{})
		for _, name := range []string{"one", "two", "writer"} {
			task := rt.Task(name)
			if name == "writer" {
				task.Write(r)
			} else {
				task.Read(r)
			}
			task.Each(1, func(int) error {
				<-goOn
				return nil
			})
		}
		ran := make(chan error)
		go func() { ran <- rt.Run(context.Background()) }()
		synctest.Wait()
		const want = `one, round 0, holds r, works
two, round 0, holds r, works
writer, round 0, waits to write r ──▶ one two
`
		if got := rt.Inspect().String(); got != want {
			t.Errorf("%s, want\n%s", got, want)
		}
		for range 3 {
			goOn <- struct{}{}
		}
		if err := <-ran; err != nil {
			t.Error(err)
		}
	})
}
