package orwl

import (
	"fmt"
	"strings"
	"testing"

	"github.com/orwl/go-orwl/resource"
)

// Nodes that have declared different programs run none. Each says the first item that differs, and on which nodes.
func TestFirstDifference(t *testing.T) {
	idle := func(int) error { return nil }
	pick := func(other bool, a, b string) string {
		if other {
			return b
		}
		return a
	}
	for name, c := range map[string]struct {
		declare func(rt *Runtime, other bool, r *resource.Resource, task *Task)
		want    string
	}{
		"rounds": {func(_ *Runtime, other bool, r *resource.Resource, task *Task) {
			task.Read(r)
			task.Each(map[bool]int{false: 10, true: 20}[other], func(int) error { t.Error("a task runs"); return nil })
		}, `task "one": 20 rounds on node 2, 10 rounds on node 0`},
		"endless rounds": {func(_ *Runtime, other bool, r *resource.Resource, task *Task) {
			task.Each(map[bool]int{false: -1, true: 1}[other], func(int) error { t.Error("a task runs"); return nil })
		}, `task "one": 1 round on node 2, rounds without end on node 0`},
		"body": {func(_ *Runtime, other bool, r *resource.Resource, task *Task) {
			if other {
				task.Do(nothing)
			} else {
				task.Each(3, func(int) error { return nil })
			}
		}, `task "one": a body of Do on node 2, 3 rounds on node 0`},
		"name of a task": {func(rt *Runtime, other bool, r *resource.Resource, task *Task) {
			task.Do(nothing)
			rt.Task(pick(other, "two", "three")).Do(nothing)
		}, `task "three" (a body of Do) on node 2, task "two" (a body of Do) on node 0`},
		"mode": {func(_ *Runtime, other bool, r *resource.Resource, task *Task) {
			if other {
				task.Write(r)
			} else {
				task.Read(r)
			}
			task.Each(1, idle)
		}, `access 1 of task "one": write "r" on node 2, read "r" on node 0`},
		"number of accesses": {func(_ *Runtime, other bool, r *resource.Resource, task *Task) {
			if task.Read(r); other {
				task.Read(r)
			}
			task.Each(1, idle)
		}, `access 2 of task "one" (read "r") on node 2, the end of task "one" on node 0`},
		"size": {func(rt *Runtime, other bool, _ *resource.Resource, task *Task) {
			task.Read(rt.Resource("s", 8*len(pick(other, "a", "bb"))))
			task.Each(1, idle)
		}, `resource "s": 16 bytes on node 2, 8 bytes on node 0`},
		"elements": {func(rt *Runtime, other bool, _ *resource.Resource, task *Task) {
			if task.Do(nothing); other {
				Array[uint32](rt, "s", 2)
			} else {
				Array[int32](rt, "s", 2)
			}
		}, `resource "s": 8 bytes of uint32 on node 2, 8 bytes of int32 on node 0`},
		"resource": {func(rt *Runtime, other bool, _ *resource.Resource, task *Task) {
			if task.Do(nothing); other {
				rt.Resource("s", 8)
			}
		}, `resource "s" (8 bytes) on node 2, task "one" (a body of Do) on node 0`},
		"snapshots": {func(rt *Runtime, other bool, r *resource.Resource, task *Task) {
			if task.Do(nothing); other {
				rt.Snapshots(r)
			}
		}, `resource "r": 8 bytes, snapshots on node 2, 8 bytes on node 0`},
		"node": {func(_ *Runtime, other bool, _ *resource.Resource, task *Task) {
			task.On(len(pick(other, "", "b"))).Do(nothing)
		}, `the placement of task "one": node 1 on node 2, node 0 on node 0`},
		"home": {func(rt *Runtime, other bool, r *resource.Resource, task *Task) {
			rt.Home(r, len(pick(other, "", "b")))
			task.Do(nothing)
		}, `the home of resource "r": node 1 on node 2, node 0 on node 0`},
		"late in a large program": {func(rt *Runtime, other bool, r *resource.Resource, task *Task) {
			task.Do(nothing)
			for i := range 100 {
				rt.Task(fmt.Sprint(i)).Each(7+len(pick(other && i == 63, "", "b")), func(int) error { return nil })
			}
		}, `task "63": 8 rounds on node 2, 7 rounds on node 0`},
	} {
		t.Run(name, func(t *testing.T) {
			nodes := crew(t, 3)
			defer disband(t, nodes)
			each(nodes, func(i int, n *Nodes) {
				rt := mustNew(t, Options{Nodes: n})
				c.declare(rt, i == 2, rt.Resource("r", 8), rt.Task("one"))
				want := "orwl: node 2 has declared another program than node 0: " + c.want + ": declare"
				if err := rt.Run(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("node %d: %v\nwant %s", i, err, want)
				}
			})
		})
	}
}
