package liveness_test

import (
	"fmt"
	"strings"

	"github.com/orwl/go-orwl/orwl/liveness"
)

func ExampleSystem_Check() {
	s, err := liveness.Parse(strings.NewReader(`
task row1: write a, read b
task row2: write b, read a @-1
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(s.Check())
	s.Tasks[1].Accesses[1].Priority = 0
	fmt.Println(s.Check())
	// Output:
	// liveness: deadlock: of 2 tasks, 2 would wait for ever:
	// 	row1 waits to write a (access 1), which row2 holds to read (access 2)
	// 	row2 waits to write b (access 1), which row1 holds to read (access 2)
	// 	give the accesses of this cycle other priorities, or none: then the tasks take turns in their order
	// <nil>
}

// Two cells of a Jacobi iteration publish their values, release them, and then read the
// value of the other. Holding both accesses at once would be a deadlock.
func ExampleStep() {
	s, err := liveness.Parse(strings.NewReader(`
task left:  write l, read r @1: acquire 1, release 1, acquire 2, release 2
task right: write r, read l @1: acquire 1, release 1, acquire 2, release 2
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(s.Check())
	for t := range s.Tasks {
		s.Tasks[t].Sequence = []liveness.Step{
			{Op: liveness.Acquire, Accesses: []int{0}},
			{Op: liveness.Acquire, Accesses: []int{1}},
			{Op: liveness.Release, Accesses: []int{0, 1}},
		}
	}
	fmt.Println(s.Check())
	// Output:
	// <nil>
	// liveness: deadlock: of 2 tasks, 2 would wait for ever:
	// 	left waits in step 2 to read r (access 2), which right holds to write (access 1) and releases in step 3
	// 	right waits in step 2 to read l (access 2), which left holds to write (access 1) and releases in step 3
	// 	give the accesses of this cycle other priorities, or none: then the tasks take turns in their order
}
