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
