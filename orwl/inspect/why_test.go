package inspect

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// planted is a run, told in lines:
//
//	node 0              the node answers, and the lines below are its tasks
//	silent 2 3s         the node does not answer
//	starting 1 4s       the node waits for others to call Run
//	a works 3 4s x y    the task works in round 3, for 4 s, and holds x and y
//	a queued
//	a ended
//	a declared
//	b x a 1             the task waits for x, which task a of node 1 has; after @ is what is heard of a's rounds
//	b x ! 0             the task waits for x, which a handle has
//	b x ? 1             the task waits for x, whose home is node 1, and knows no task that has it
//
// A line may end with the round: !7.
func planted(t *testing.T, text string) Run {
	t.Helper()
	var r Run
	var s *State
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) == 0 {
			continue
		}
		var n int
		long := func(at int) (d Seconds) {
			if len(f) > at {
				d.Duration, _ = time.ParseDuration(f[at])
			}
			return d
		}
		report := func() *NodeReport {
			fmt.Sscan(f[1], &n)
			r.Nodes = append(r.Nodes, NodeReport{Node: n, Process: Process{100 + n, "h"}, Status: NodeHere})
			return &r.Nodes[n]
		}
		switch f[0] {
		case "node":
			s = &State{Still: long(2), Running: true}
			report().State = s
			s.Node = n
			continue
		case "silent":
			p := report()
			p.Silent, p.Status = long(2), NodeSuspected
			continue
		case "starting":
			report().State = &State{Node: n, Starting: true, Still: long(2)}
			continue
		}
		task := TaskState{Task: f[0], Node: s.Node}
		if last := f[len(f)-1]; last[0] == '!' {
			fmt.Sscan(last[1:], &task.Round)
			f = f[:len(f)-1]
		}
		switch f[1] {
		case "works":
			task.State, task.For = TaskWorking, long(3)
			fmt.Sscan(f[2], &task.Round)
			if len(f) > 4 {
				task.Holds = f[4:]
			}
		case "queued":
			task.State = TaskQueued
		case "ended":
			task.State = TaskEnded
		case "declared":
			task.State = TaskDeclared
			s.Running = false
		default:
			task.State, task.Waits = TaskWaiting, &WaitState{Resource: f[1]}
			name, round, heard := strings.Cut(f[2], "@")
			e := WaitEdge{From: f[0], To: name, Resource: f[1]}
			if heard {
				fmt.Sscan(round, &e.Round)
			}
			fmt.Sscan(f[3], &e.Node)
			if name == "!" {
				task.Waits.Behind = []string{"a handle of no task"}
			} else if name == "?" {
				s.Resources = append(s.Resources, ResourceState{Resource: f[1], Home: e.Node})
			} else if s.WaitsFor = append(s.WaitsFor, e); len(task.Waits.Behind) == 0 {
				task.Waits.Behind = []string{name}
			}
		}
		if i := slices.IndexFunc(s.Tasks, func(other TaskState) bool { return other.Task == task.Task }); i < 0 {
			s.Tasks = append(s.Tasks, task)
		}
	}
	return r
}

// Each planted culprit is named in one line.
func TestWhy(t *testing.T) {
	for name, c := range map[string]struct{ run, want string }{
		"a task on another node": {`
			node 0 4s
			a x b 1
			node 1 4s
			b y c 2
			node 2 4s
			c works 7 5s y
			`, "node 2 (process 102 on h): task c works in round 7 for 5s, and holds y; 2 tasks wait for it: a (node 0) ──▶ b (node 1) ──▶ c (node 2)"},
		"the one for which most wait": {`
			node 0 4s
			a works 7 9s
			b works 7 4s x
			c x b 0
			d x b 0
			`, "process 100 on h: task b works in round 7 for 4s, and holds x; 2 tasks wait for it: d ──▶ b"},
		"the first to stand still, if as many wait": {`
			node 0 4s
			a works 7 4s x
			b works 7 6s y
			c x a 0
			c y b 0
			`, "process 100 on h: task b works in round 7 for 6s, and holds y; 1 task waits for it: c ──▶ b"},
		"a silent node": {`
			node 0 4s
			a x b 1
			silent 1 3s
			`, "node 1 (process 101 on h) does not answer for 3s, and is suspected; 1 task waits for it: a (node 0) ──▶ node 1"},
		"a silent node for which no task waits, beside a task that works": {`
			node 0 4s
			a works 1 2s
			silent 1 3s
			`, "node 1 (process 101 on h) does not answer for 3s, and is suspected; no task waits for it"},
		"a silent home": {`
			node 0 4s
			a x ? 1
			silent 1 3s
			`, "node 1 (process 101 on h) does not answer for 3s, and is suspected; 1 task waits for it: a (node 0) ──▶ node 1"},
		"bytes from a home": {`
			node 0 4s
			a x ? 1
			node 1 4s
			`, "node 1 (process 101 on h): the bytes of x are on their way to node 0; 1 task waits for it: a (node 0) ──▶ the bytes of x"},
		"a round that was not heard of": {`
			node 0 4s
			a x b@6 1
			node 1 4s
			b works 7 4s
			`, "node 1 (process 101 on h): the bytes of x are on their way to node 0; 1 task waits for it: a (node 0) ──▶ the bytes of x"},
		"a round that has not ended": {`
			node 0 4s
			a x b@7 1
			node 1 4s
			b works 7 4s x
			`, "node 1 (process 101 on h): task b works in round 7 for 4s, and holds x; 1 task waits for it: a (node 0) ──▶ b (node 1)"},
		"a round that was counted early": {`
			node 0 4s
			a x b@6 1
			node 1 4s
			b works 7 4s x
			`, "node 1 (process 101 on h): task b works in round 7 for 4s, and holds x; 1 task waits for it: a (node 0) ──▶ b (node 1)"},
		"a task that has ended, and its end was not heard of": {`
			node 0 4s
			a x b@7 1
			node 1 4s
			b ended !7
			`, "node 1 (process 101 on h): the bytes of x are on their way to node 0; 1 task waits for it: a (node 0) ──▶ the bytes of x"},
		"no worker is free": {`
			node 0 4s
			a works 7 4s
			b queued
			c x b 0
			`, "process 100 on h: task a works in round 7 for 4s; 2 tasks wait for it: c ──▶ b ──▶ a"},
		"a handle of no task": {`
			node 0 4s
			a x nobody 0
			`, "process 100 on h: nobody has x; 1 task waits for it: a ──▶ nobody"},
		"by two ways": {`
			node 0 4s
			a x b 0
			a y c 0
			b z d 0
			c z d 0
			d works 1 4s
			`, "process 100 on h: task d works in round 1 for 4s; 3 tasks wait for it: a ──▶ b ──▶ d"},
		"a handle of no task, as a node sees it": {`
			node 0 4s
			a x ! 0
			`, "process 100 on h: a handle of no task has x; 1 task waits for it: a ──▶ a handle of no task"},
		"a node that has not begun": {`
			starting 0 4s
			starting 1 4s
			node 2
			c declared
			`, "node 2 (process 102 on h) has not called Run; 2 nodes cannot begin before: node 1 ──▶ node 2"},
		"a silent node before the run": {`
			starting 0 4s
			silent 1 2s
			`, "node 1 (process 101 on h) does not answer for 2s, and is suspected; 1 node cannot begin before: node 0 ──▶ node 1"},
		"a circle": {`
			node 0 4s
			a x b 0
			b y c 0
			c z a 0
			d works 1 4s
			`, "3 tasks wait for each other in a circle: a ──▶ b ──▶ c ──▶ a"},
		"a long chain": {`
			node 0 4s
			a x b 0
			b x c 0
			c x d 0
			d x e 0
			e x f 0
			f works 1 4s
			`, "process 100 on h: task f works in round 1 for 4s; 5 tasks wait for it: a ──▶ b ──▶ (2 more) ──▶ e ──▶ f"},
		"no task waits": {`
			node 0 4s
			a works 7 4s
			`, "process 100 on h: task a works in round 7 for 4s; no task waits for it"},
		"it moves": {`
			node 0 0s
			a works 7 10ms x
			b x a 0
			`, "the tasks move: of 2 tasks, 1 wait now, most of them for a"},
		"one stands, and others move": {`
			node 0 0s
			a works 7 4s x
			b x a 0
			c works 900 0s
			`, "process 100 on h: task a works in round 7 for 4s, and holds x; 1 task waits for it: b ──▶ a"},
		"it moves, and none waits": {`
			node 0 0s
			a works 7 10ms x
			`, "the tasks move: of 1 task, none waits for another"},
		"the end":   {"node 0 0s\na ended", "no task runs: all have ended"},
		"not begun": {"node 0 0s\na declared", "no task runs: the run has not begun"},
	} {
		t.Run(name, func(t *testing.T) {
			w := planted(t, c.run).Why()
			if w.Text != c.want {
				t.Errorf("\n%s, want\n%s", w.Text, c.want)
			}
			if strings.Contains(w.Text, "\n") {
				t.Error("more than one line")
			}
			var node int
			if n, _ := fmt.Sscanf(w.Text, "node %d ", &node); n == 1 && w.Node != node {
				t.Errorf("the node is %d", w.Node)
			}
		})
	}
}

// The tasks of all nodes, with what they do.
func TestActivities(t *testing.T) {
	r := planted(t, `
		node 0 4s
		a x b@6 1
		b2 x a 0
		q queued
		e ended
		node 1 4s
		b works 7 4s
		w y b@6 1
		`)
	want := map[string]Activity{"a": ForBytes, "b2": ForTurn, "q": Queued, "e": Idle, "b": Computes, "w": ForTurn}
	all, _ := r.Tasks()
	for _, task := range all {
		if task.Is != want[task.Task] {
			t.Errorf("%s %s, want %s", task.Task, task.Is, want[task.Task])
		}
	}
	if len(all) != len(want) || all[1].Behind != 0 || all[5].Behind != 4 || all[0].Behind != -1 {
		t.Errorf("%+v", all)
	}
}

// Many tasks that all work, or all wait, are judged quickly.
func TestWhyOfMany(t *testing.T) {
	const many = 20_000
	s := &State{Running: true, Still: Seconds{4 * time.Second}}
	for i := range many {
		task := TaskState{Task: fmt.Sprint(i), State: TaskWorking}
		if i > 0 && i < many/2 {
			task.State, task.Waits = TaskWaiting, &WaitState{Resource: "x"}
			s.WaitsFor = append(s.WaitsFor, WaitEdge{From: task.Task, To: fmt.Sprint(i - 1), Resource: "x"})
		}
		s.Tasks = append(s.Tasks, task)
	}
	if w := (Run{Nodes: []NodeReport{{State: s}}}).Why(); w.Task != "0" || w.Waiting != many/2-1 {
		t.Errorf("%.200s", w)
	}
}

// BenchmarkTasks judges 4,000 tasks. Half of them wait.
func BenchmarkTasks(b *testing.B) {
	var r Run
	for n := range 64 {
		s := &State{Node: n, Running: true}
		for i := range 63 {
			task := TaskState{Task: fmt.Sprint(n, " ", i), State: TaskWorking, Round: 3}
			switch i % 4 {
			case 0:
				task.State = TaskQueued
			case 1:
				task.State, task.Waits = TaskWaiting, &WaitState{Resource: "x"}
				s.WaitsFor = append(s.WaitsFor, WaitEdge{From: task.Task, To: fmt.Sprint((n+1)%64, " ", i+1), Resource: "x", Node: (n + 1) % 64, Round: 3})
			}
			s.Tasks = append(s.Tasks, task)
		}
		r.Nodes = append(r.Nodes, NodeReport{Node: n, State: s})
	}
	for b.Loop() {
		r.Tasks()
	}
}

func TestStateText(t *testing.T) {
	for want, task := range map[string]TaskState{
		"a, round 7, works":                              {Task: "a", Round: 7},
		"a, round 0, holds x y, works":                   {Task: "a", Holds: []string{"x", "y"}},
		"a, round 0, waits to write x":                   {Task: "a", Waits: &WaitState{Resource: "x", Mode: "write"}},
		"a, round 0, waits to read x for 1.235s ──▶ b c": {Task: "a", Waits: &WaitState{Resource: "x", Mode: "read", For: Seconds{1234567 * time.Microsecond}, Behind: []string{"b", "c"}}},
	} {
		if got := task.String(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	// A long text begins with those that work and says how much is left out.
	var r State
	for i := range manyLines + 7 {
		task := TaskState{Task: fmt.Sprint(i), State: TaskWaiting, Waits: &WaitState{Resource: "x", Mode: "read"}}
		if i == manyLines+3 {
			task.State, task.Waits = TaskWorking, nil
		}
		r.Tasks = append(r.Tasks, task)
	}
	lines := strings.Split(r.String(), "\n")
	if len(lines) != manyLines+2 || lines[0] != fmt.Sprintf("%d, round 0, works", manyLines+3) ||
		lines[1] != "0, round 0, waits to read x" || lines[manyLines] != "... and 7 more tasks" {
		t.Errorf("%v", r)
	}
	if r.Tasks[0].Waits == nil {
		t.Error("String has changed the state")
	}
}

// The ranks of a lock that acquire equally often are treated fairly. Those that do not ask do not count.
func TestUnfairness(t *testing.T) {
	for _, c := range []struct {
		acquired []uint64
		want     float64
	}{{nil, 0}, {[]uint64{0, 0}, 0}, {[]uint64{5, 5, 0}, 0}, {[]uint64{1, 3}, 0.5}} {
		if got := Unfairness(c.acquired); got != c.want {
			t.Errorf("%v: %v, want %v", c.acquired, got, c.want)
		}
	}
}
