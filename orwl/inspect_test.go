package orwl

import (
	"context"
	"encoding/json"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/orwl/go-orwl/orwl/inspect"
)

// asJSON is a state as others get it, without spaces.
func asJSON(t testing.TB, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// A state says what a program does: before it runs, while it stands still, and
// when it has ended.
func TestInspect(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2)) // so many workers
	synctest.Test(t, func(t *testing.T) {
		rt := mustNew(t, Options{Stall: -1})
		x, y := rt.Resource("x", 16), rt.Resource("y", 8)
		rt.Resource("z", 0) // no task accesses it
		goOn := make(chan struct{})
		w, b, c, d := rt.Task("w"), rt.Task("b"), rt.Task("c"), rt.Task("d")
		own := w.Write(x)
		b.Read(x)
		c.Read(x)
		c.Write(y)
		d.Write(x)
		w.Each(1, func(int) error {
			Write[uint64](own)[0] = 1
			<-goOn
			return nil
		})
		for _, task := range []*Task{b, c, d} {
			task.Each(1, func(int) error {
				<-goOn
				return nil
			})
		}
		s := rt.Inspect()
		if s.Running || s.Tasks[0].State != inspect.TaskDeclared || len(s.Tasks) != 4 || s.Still.Duration != 0 {
			t.Errorf("before the run: %+v", s)
		}
		ran := make(chan error)
		go func() { ran <- rt.Run(context.Background()) }()
		synctest.Wait()
		rt.Inspect()
		<-time.After(2 * time.Second) // of the bubble
		const want = `{"node":0,"running":true,"still_seconds":2,"nodes":[{"node":0,"state":"here"}],"tasks":[` +
			`{"task":"w","node":0,"state":"working","round":0,"rounds":1,"for_seconds":2,"holds":["x"]},` +
			`{"task":"b","node":0,"state":"waiting","round":0,"rounds":1,"for_seconds":2,"holds":[],"waits":{"resource":"x","mode":"read","for_seconds":2,"behind":["w"]}},` +
			`{"task":"c","node":0,"state":"waiting","round":0,"rounds":1,"for_seconds":2,"holds":["y"],"waits":{"resource":"x","mode":"read","for_seconds":2,"behind":["w"]}},` +
			`{"task":"d","node":0,"state":"waiting","round":0,"rounds":1,"for_seconds":2,"holds":[],"waits":{"resource":"x","mode":"write","for_seconds":2,"behind":["w"]}}],` +
			`"resources":[{"resource":"x","home":0,"size_bytes":16,"version":0,"fence":2,"broken":false,"whole":true,"queue":[` +
			`{"mode":"write","granted":true,"members":[{"who":"w","node":0,"held":true}]},` +
			`{"mode":"read","granted":false,"members":[{"who":"b","node":0,"held":false},{"who":"c","node":0,"held":false}]},` +
			`{"mode":"write","granted":false,"members":[{"who":"d","node":0,"held":false}]}]},` +
			`{"resource":"y","home":0,"size_bytes":8,"version":0,"fence":1,"broken":false,"whole":true,"queue":[` +
			`{"mode":"write","granted":true,"members":[{"who":"c","node":0,"held":false}]}]},` +
			`{"resource":"z","home":0,"size_bytes":0,"version":0,"fence":0,"broken":false,"whole":true,"queue":[]}],` +
			`"waits_for":[{"from":"b","to":"w","resource":"x","mode":"read","node":0},{"from":"c","to":"w","resource":"x","mode":"read","node":0},` +
			`{"from":"d","to":"w","resource":"x","mode":"write","node":0}],"workers":{"all":2,"asleep":1}}`
		if got := asJSON(t, rt.Inspect()); got != want {
			t.Errorf("%s, want\n%s", got, want)
		}
		goOn <- struct{}{}
		synctest.Wait()
		s = rt.Inspect()
		if s.Still.Duration != 0 || s.Tasks[0].State != inspect.TaskEnded || s.Tasks[1].State != inspect.TaskWorking || s.Resources[0].Version != 1 {
			t.Errorf("after a round: %s", asJSON(t, s))
		}
		if got := asJSON(t, s.WaitsFor); got != `[{"from":"d","to":"b","resource":"x","mode":"write","node":0},{"from":"d","to":"c","resource":"x","mode":"write","node":0}]` {
			t.Errorf("behind two: %s", got)
		}
		close(goOn)
		if err := <-ran; err != nil {
			t.Error(err)
		}
		s = rt.Inspect()
		if s.Running || s.Tasks[3].State != inspect.TaskEnded || len(s.WaitsFor) != 0 || len(s.Resources[0].Queue) != 0 || s.Resources[0].Fence != 3 {
			t.Errorf("in the end: %s", asJSON(t, s))
		}
	})
}

// A home knows the node of another node's tasks, and shows the whole queue of its own
// resource. A mirror shows its node's requests.
func TestInspectOfNodes(t *testing.T) {
	home, mirror := statesOf(t, 0)
	if got, want := asJSON(t, home.Resources[0]), `{"resource":"x","home":0,"size_bytes":8,"version":0,"fence":2,"broken":false,"whole":true,"queue":[`+
		`{"mode":"write","granted":true,"members":[{"who":"a","node":0,"held":true}]},`+
		`{"mode":"write","granted":false,"members":[{"who":"b","node":1,"held":false}]}]}`; got != want {
		t.Errorf("the home: %s, want %s", got, want)
	}
	if got, want := asJSON(t, mirror.Resources[0].Queue), `[{"mode":"write","granted":true,"members":[{"who":"a","node":0,"held":false}]},{"mode":"write","granted":false,"members":[{"who":"b","node":1,"held":false}]}]`; got != want || mirror.Resources[0].Whole {
		t.Errorf("the mirror: %s, whole %t; want %s", got, mirror.Resources[0].Whole, want)
	}
	if len(home.Tasks) != 1 || home.Tasks[0].Task != "a" || len(mirror.Tasks) != 1 || mirror.Tasks[0].State != inspect.TaskWaiting || mirror.Node != 1 {
		t.Errorf("tasks: %s and %s", asJSON(t, home.Tasks), asJSON(t, mirror.Tasks))
	}
	if !slices.Equal(home.Nodes, []inspect.NodeState{{Node: 0, State: inspect.NodeHere}, {Node: 1, State: inspect.NodeHere}}) {
		t.Errorf("nodes: %v", home.Nodes)
	}
}

// At the home of what it waits for, a task is told which node it is behind.
func TestInspectBehindANode(t *testing.T) {
	home, mirror := statesOf(t, 1)
	const want = `[{"from":"b","to":"a","resource":"x","mode":"write","node":0}]`
	if got := asJSON(t, home.WaitsFor); got != want || !slices.Equal(home.Tasks[0].Waits.Behind, []string{"a"}) {
		t.Errorf("%s, %+v; want %s", got, home.Tasks[0].Waits, want)
	}
	if len(mirror.WaitsFor) != 0 || !slices.Equal(mirror.Tasks[0].Holds, []string{"x"}) || mirror.Resources[0].Fence != 2 {
		t.Errorf("where it is held: %s", asJSON(t, mirror))
	}
}

// statesOf returns two states: of the node at, which is the resource's home, and
// of the other node. Task a of node 0 holds the resource, and task b of node 1 waits
// for it.
func statesOf(t *testing.T, at int) (home, mirror inspect.State) {
	nodes := crew(t, 2)
	defer disband(t, nodes)
	var looked sync.WaitGroup
	looked.Add(1)
	var all [2]*Runtime
	var ready sync.WaitGroup
	ready.Add(1)
	go func() {
		defer looked.Done()
		ready.Wait()
		// The other node's request may be under way.
		for queued := 0; queued < 2; {
			home = all[at].Inspect()
			queued = 0
			for _, g := range home.Resources[0].Queue {
				queued += len(g.Members)
			}
		}
		mirror = all[1-at].Inspect()
	}()
	each(nodes, func(i int, n *Nodes) {
		rt := mustNew(t, Options{Nodes: n})
		all[i] = rt
		r := rt.Resource("x", 8)
		rt.Home(r, at)
		a, b := rt.Task("a").On(0), rt.Task("b").On(1)
		a.Write(r)
		b.Write(r)
		a.Each(1, func(int) error {
			ready.Done()
			looked.Wait()
			return nil
		})
		b.Each(1, func(int) error { return nil })
		if err := rt.Run(context.Background()); err != nil {
			t.Errorf("node %d: %v", i, err)
		}
	})
	return home, mirror
}

// Anybody may look at any time, while everything moves.
func TestInspectWhileItRuns(t *testing.T) {
	rt := mustNew(t, Options{})
	names := []string{"a", "b", "c"}
	for _, name := range names {
		rt.Resource(name, 8)
	}
	done := make(chan struct{})
	for i, name := range names {
		task := rt.Task(name)
		own := task.Write(rt.Lookup(name))
		task.Read(rt.Lookup(names[(i+1)%3]))
		task.Each(-1, func(int) error {
			Write[uint64](own)[0]++
			select {
			case <-done:
				return errPlanned
			default:
			}
			return nil
		})
	}
	ran := make(chan error)
	go func() { ran <- rt.Run(context.Background()) }()
	for moved := uint64(0); moved < 1000; {
		s := rt.Inspect()
		asJSON(t, s)
		moved = s.Resources[0].Version
	}
	close(done)
	<-ran
}
