package orwl

import (
	"context"
	"runtime"
	"testing"
)

// While workers of several nodes run, the scheduler has one processor more than before, however many nodes this process
// is. The workers are as many as without it. One node has none, and the run gives it back.
func TestSpareProcessor(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(3))
	for _, count := range []int{1, 2} {
		during, workers := make([]int, count), make([]int, count)
		run := func(i int, n *Nodes) {
			rt, err := New(Options{Nodes: n, Log: silent})
			if err != nil {
				t.Error(err)
				return
			}
			for k, name := range []string{"a", "b", "c", "d", "e", "f"} { // more than processors, on each node
				task := rt.Task(name).On(k % count)
				task.Write(rt.Resource(name, 8))
				task.Each(10, func(round int) error {
					if round == 5 && k == i {
						during[i] = runtime.GOMAXPROCS(0)
						workers[i] = processors()
					}
					return nil
				})
			}
			if err := rt.Run(context.Background()); err != nil {
				t.Error(err)
			}
		}
		if count == 1 {
			run(0, nil)
		} else {
			nodes := crew(t, count)
			each(nodes, run)
			disband(t, nodes)
		}
		for i := range count {
			if want := 3 + min(count-1, 1); during[i] != want || workers[i] != 3 {
				t.Errorf("node %d of %d: GOMAXPROCS is %d and %d are for workers, want %d and 3", i, count, during[i], workers[i], want)
			}
		}
		if n := runtime.GOMAXPROCS(0); n != 3 {
			t.Errorf("after a run of %d nodes GOMAXPROCS is %d, want 3", count, n)
		}
	}
}

// Runs that overlap share the spare processor, and a program that changes GOMAXPROCS meanwhile keeps its number.
func TestSpareIsShared(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(3))
	is := func(what string, all, ours int) {
		t.Helper()
		if n := runtime.GOMAXPROCS(0); n != all || processors() != ours {
			t.Errorf("%s: GOMAXPROCS is %d and %d are for workers, want %d and %d", what, n, processors(), all, ours)
		}
	}
	_ = takeSpare(nil)
	_ = takeSpare(nil)
	is("two runs", 4, 3)
	giveSpare()
	is("one run", 4, 3)
	giveSpare()
	is("none", 3, 3)
	_ = takeSpare(nil)
	runtime.GOMAXPROCS(2)
	is("changed", 2, 2)
	giveSpare()
	is("changed and over", 2, 2)
}
