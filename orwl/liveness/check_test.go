package liveness

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/orwl/go-orwl/resource"
)

// system parses a text in which semicolons separate the tasks.
func system(t interface{ Fatal(...any) }, text string) System {
	s, err := Parse(strings.NewReader(strings.ReplaceAll(text, "; ", "\n")))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestCheckAlive(t *testing.T) {
	for _, text := range []string{
		"",
		"task idle:",
		"task t: write a",
		"task t: read a, read a",
		"task s: write a; task t: write a; task u: read a, read b",
		"task row1: write a, read b; task row2: write b, read a",
		"task s: read a; task t: write a; task u: read a",          // groups of readers merge
		"task s: read a, read a; task t: write a; task u: read a",  // two readers of a task are in one group
		"task s: write a, read b @-1; task t: write b, read a",     // t is before s at both resources
		"task s: write a @5, write b @5; task t: write b, write a", // the second task is first everywhere
		"task s: read a @1, read b; task t: read b @1, read a",     // only reads
		// The natural Jacobi: publish, release, then read the neighbours.
		"task s: write a, read b @1: acquire 1, release 1, acquire 2, release 2; task t: write b, read a @1: acquire 1, release 1, acquire 2, release 2",
		"task t: write a, read a: acquire 1, release 1, acquire 2, release 2",    // one after the other
		"task t: write a @1, read a: acquire 2, release 2, acquire 1, release 1", // in the order of the priorities
		"task a: write x; task idle: ; task b: read x, write y @-3; ",            // one task has no accesses
	} {
		if err := system(t, text).Check(); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

const others = "\n\tgive the accesses of this cycle other priorities, or none: then the tasks take turns in their order"

func TestDeadlockMessages(t *testing.T) {
	for text, want := range map[string]string{
		"task row1: write a, read b; task row2: write b, read a @-1": `of 2 tasks, 2 would wait for ever:
	row1 waits to write a (access 1), which row2 holds to read (access 2)
	row2 waits to write b (access 1), which row1 holds to read (access 2)` + others,
		"task t: write a, write a": `of 1 tasks, 1 would wait for ever:
	t waits to write a (access 2), which it holds itself to write (access 1)
	let t ask for a once, to write`,
		"task t: read a, write a": `of 1 tasks, 1 would wait for ever:
	t waits to write a (access 2), which it holds itself to read (access 1)
	let t ask for a once, to write`,
		// Check finds the cycle of length 1 behind other waits.
		"task s: write b; task t: read b @1, write a, read a": `of 2 tasks, 1 would wait for ever:
	t waits to read a (access 3), which it holds itself to write (access 2)
	let t ask for a once, to write`,
		"task t: write b, read a, write a @1; task u: read b @-1, write c @1; task v: write c": `of 3 tasks, 1 would wait for ever:
	t waits to write a (access 3), which it holds itself to read (access 2)
	let t ask for a once, to write`,
		"task t: write b, write c @1, read a, write a; task u: write c, write b @1": `of 2 tasks, 2 would wait for ever:
	t waits to write a (access 4), which it holds itself to read (access 3)
	let t ask for a once, to write`,
		// A task may read twice, but here a writer stands between the two reads.
		"task t: read a, read a @2; task u: write a @1": `of 2 tasks, 2 would wait for ever:
	t waits to read a (access 2) behind u, which waits to write it (access 1)
	u waits to write a (access 1), which t holds to read (access 1)` + others,
		// The message counts the tasks that wait for the cycle, but does not show them.
		"task z: read a @9; task y: read a @9; task t: write a, write b @1; task u: write b, write a @1; task free: write f": `of 5 tasks, 4 would wait for ever:
	t waits to write b (access 2), which u holds to write (access 1)
	u waits to write a (access 2), which t holds to write (access 1)` + others,
		`task "row 1": write "a b", write c @1; task "2": write c, write "a b" @1`: `of 2 tasks, 2 would wait for ever:
	"row 1" waits to write c (access 2), which 2 holds to write (access 1)
	2 waits to write "a b" (access 2), which "row 1" holds to write (access 1)` + others,
		// s publishes late: it reads b before it releases a.
		"task s: write a, read b @1: acquire 1 2, release 1 2; task t: write b, read a @1: acquire 1, acquire 2, release 1, release 2": `of 2 tasks, 2 would wait for ever:
	s waits in step 1 to read b (access 2), which t holds to write (access 1) and releases in step 3
	t waits in step 2 to read a (access 2), which s holds to write (access 1) and releases in step 2` + others,
		// A task without a sequence has no steps in the message.
		"task s: write a, read b @1: acquire 1, acquire 2, release 1 2; task t: write b, read a @1": `of 2 tasks, 2 would wait for ever:
	s waits in step 2 to read b (access 2), which t holds to write (access 1)
	t waits to read a (access 2), which s holds to write (access 1) and releases in step 3` + others,
		"task t: write a, read a: acquire 2, release 2, acquire 1, release 1": `of 1 tasks, 1 would wait for ever:
	t waits in step 1 to read a (access 2), which it holds itself to write (access 1) and releases in step 4
	let t release access 1 before it acquires access 2`,
	} {
		err := system(t, text).Check()
		var deadlock *DeadlockError
		if !errors.As(err, &deadlock) {
			t.Errorf("%s: %v, want a *DeadlockError", text, err)
		} else if want = "liveness: deadlock: " + want; err.Error() != want {
			t.Errorf("%s:\n%v\nwant\n%s", text, err, want)
		}
	}
}

// philosophers is n tasks in a circle. Each task requests its left fork first.
func philosophers(n int) System {
	var s System
	for i := range n {
		s.Tasks = append(s.Tasks, Task{Name: fmt.Sprintf("p%d", i), Accesses: []Access{
			{Resource: fmt.Sprintf("f%d", i), Mode: resource.Write},
			{Resource: fmt.Sprintf("f%d", (i+1)%n), Mode: resource.Write, Priority: 1},
		}})
	}
	return s
}

// A message shows only part of a long cycle. The error has all of it.
func TestLongCycle(t *testing.T) {
	for n, want := range map[int]int{2: 4, 12: 14, 13: 15, 14: 15, 5000: 15} {
		err := philosophers(n).Check()
		var deadlock *DeadlockError
		if !errors.As(err, &deadlock) || len(deadlock.Cycle) != n || deadlock.Stuck != n {
			t.Fatalf("%d: %v", n, err)
		}
		lines := strings.Split(err.Error(), "\n")
		if last := fmt.Sprintf("\tp%d waits to write f0 (access 2), which p0 holds to write (access 1)", n-1); len(lines) != want || lines[len(lines)-2] != last {
			t.Errorf("%d: %d lines, want %d:\n%v", n, len(lines), want, err)
		}
		if n == 5000 && !strings.Contains(err.Error(), "p10 holds to write (access 1)\n\tp10 waits") {
			t.Errorf("the beginning is not there: %v", err)
		}
		if n > 12 && !strings.Contains(err.Error(), fmt.Sprintf("\n\t... and %d more like that ...\n", n-12)) {
			t.Errorf("does not say how many are left out: %v", err)
		}
	}
}

func TestCheckRefuses(t *testing.T) {
	access := func(name string, m resource.Mode) []Access {
		return []Access{{Resource: "a"}, {Resource: name, Mode: m}}
	}
	for want, tasks := range map[string][]Task{
		`liveness: task 1 ("") has no name: give it one`:                        {{Name: "a"}, {}},
		`liveness: task 2 ("s") has the name of task 0: give it another one`:    {{Name: "s"}, {Name: "t"}, {Name: "s"}},
		`liveness: access 2 of task 0 ("s") names no resource: name one`:        {{Name: "s", Accesses: access("", resource.Write)}},
		`liveness: access 2 of task 0 ("s") has the mode 2: want Read or Write`: {{Name: "s", Accesses: access("b", resource.Write+1)}},
	} {
		err := System{tasks}.Check()
		var bad *SystemError
		if !errors.As(err, &bad) || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// Check refuses a system whose requests it cannot number. The tasks here have their accesses
// in common, so they take no memory.
func TestCheckRefusesTooMany(t *testing.T) {
	const each = 1 << 15
	accesses := make([]Access, each)
	s := System{make([]Task, (mostAccesses+1)/each)}
	for i := range s.Tasks {
		s.Tasks[i].Accesses = accesses
	}
	var bad *SystemError
	if err := s.Check(); !errors.As(err, &bad) || bad.Task != len(s.Tasks)-1 || !strings.Contains(err.Error(), "to 1073741824: want at most 1073741823") {
		t.Error(err)
	}
}

// A Sequence acquires each access once, and then releases it once.
func TestCheckRefusesSequences(t *testing.T) {
	for want, steps := range map[string][]Step{
		`task 0 ("t") has the op 2 in step 1: want Acquire or Release`:                                 {{2, []int{0}}},
		`task 0 ("t") has no access in step 2: name one, or leave the step out`:                        {{Acquire, []int{0}}, {Release, nil}},
		`task 0 ("t") has no access 3, as step 1 wants: it has 2`:                                      {{Acquire, []int{0, 2}}},
		`task 0 ("t") has no access 0, as step 1 wants: it has 2`:                                      {{Acquire, []int{-1}}},
		`access 2 of task 0 ("t") (read b) is acquired twice, in step 2: ` + onceEach:                  {{Acquire, []int{0, 1}}, {Acquire, []int{1}}},
		`access 2 of task 0 ("t") (read b) is acquired twice, in step 3: ` + onceEach:                  {{Acquire, []int{1}}, {Release, []int{1}}, {Acquire, []int{1}}},
		`access 1 of task 0 ("t") (write a) is released before it is acquired, in step 1: ` + onceEach: {{Release, []int{0}}},
		`access 1 of task 0 ("t") (write a) is released twice, in step 2: ` + onceEach:                 {{Acquire, []int{0}}, {Release, []int{0, 0}}},
		`access 2 of task 0 ("t") (read b) is not acquired in its sequence: ` + onceEach:               {{Acquire, []int{0}}, {Release, []int{0}}},
		`access 1 of task 0 ("t") (write a) is not released in its sequence: ` + onceEach:              {{Acquire, []int{0, 1}}, {Release, []int{1}}},
	} {
		err := System{[]Task{{Name: "t", Accesses: []Access{{Resource: "a", Mode: resource.Write}, {Resource: "b"}}, Sequence: steps}}}.Check()
		var bad *SystemError
		if !errors.As(err, &bad) || err.Error() != "liveness: "+want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// drawSystem draws a system with names of any kind.
func drawSystem(t *rapid.T, priorities *rapid.Generator[int]) System {
	names := rapid.SliceOfNDistinct(rapid.OneOf(rapid.StringN(1, 8, -1), rapid.StringMatching(`[a-z:@#" ]{1,3}|[\x00-\x7f]|"\\xff`)), 0, 12, rapid.ID[string]).Draw(t, "tasks")
	resources := rapid.SliceOfN(rapid.StringN(1, 3, -1), 1, 8).Draw(t, "resources")
	access := rapid.Custom(func(t *rapid.T) Access {
		return Access{Resource: rapid.SampledFrom(resources).Draw(t, "resource"),
			Mode: rapid.SampledFrom([]resource.Mode{resource.Read, resource.Write}).Draw(t, "mode"), Priority: priorities.Draw(t, "priority")}
	})
	var s System
	for _, name := range names {
		task := Task{Name: name, Accesses: rapid.SliceOfN(access, 0, 4).Draw(t, "accesses")}
		if rapid.Bool().Draw(t, "a sequence") {
			task.Sequence = randomSequence(rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "steps"), 0)), len(task.Accesses), true)
		}
		s.Tasks = append(s.Tasks, task)
	}
	return s
}

// blocksItself reports whether some task has two conflicting accesses to one resource,
// and acquires the second before it releases the first.
func blocksItself(s System) bool {
	for _, task := range s.Tasks {
		for i, x := range task.Accesses {
			for j, y := range task.Accesses[:i] {
				apart := task.Sequence != nil && task.step(Release, j) < task.step(Acquire, i)
				if x.Resource == y.Resource && conflicting(x.Mode, y.Mode) && !apart {
					return true
				}
			}
		}
	}
	return false
}

// With equal priorities, only a task that blocks itself is stuck.
func TestCanonicalOrderIsAlive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		priority := rapid.Int().Draw(t, "the priority")
		s := drawSystem(t, rapid.Just(priority))
		err := s.Check()
		var deadlock *DeadlockError
		if !blocksItself(s) && err != nil {
			t.Fatalf("%v in\n%v", err, s)
		} else if blocksItself(s) && (!errors.As(err, &deadlock) || len(deadlock.Cycle) != 1) {
			t.Fatalf("%v, want a cycle of length 1 in\n%v", err, s)
		}
	})
}

// Check agrees with a search for cycles in the conflicts of a played system.
func TestCheckSeesCycles(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSystem(t, rapid.IntRange(-2, 2))
		stuck := stuckTasks(newPlayed(s))
		err := s.Check()
		var deadlock *DeadlockError
		if len(stuck) == 0 && err == nil {
			r := newRound(s)
			if r.play(); !r.repeats() {
				t.Fatalf("a round leads elsewhere in\n%v", s)
			}
			return
		}
		if !errors.As(err, &deadlock) || deadlock.Stuck != len(stuck) {
			t.Fatalf("%v, want %d stuck in\n%v", err, len(stuck), s)
		}
	})
}

// repeats tells a round that leads back to its beginning from any other.
func TestRoundRepeats(t *testing.T) {
	s := system(t, "task s: write a; task t: write a")
	for _, c := range []struct {
		accesses []number // in the queue with a request for the second round, in order
		want     bool
	}{{[]number{1, 2}, true}, {[]number{2, 1}, false}, {[]number{1}, false}, {[]number{1, 2, 3}, false}, {nil, false}} {
		r := newRound(s)
		r.requests = append(r.requests, request{}) // of access 3
		for _, n := range c.accesses {
			r.queues[0].add(r.requests, r.second(n), resource.Write)
		}
		if got := r.repeats(); got != c.want {
			t.Errorf("%v: %v, want %v", c.accesses, got, c.want)
		}
	}
}
