package speed_test

import (
	"fmt"
	"strings"
	"time"

	"github.com/orwl/go-orwl/orwl/liveness"
	"github.com/orwl/go-orwl/orwl/speed"
)

// A pipeline goes as fast as its slowest neighbours, because a writer waits for the reader of its last
// value.
func ExampleOf() {
	s, err := liveness.Parse(strings.NewReader("task read: write a\ntask filter: read a, write b\ntask draw: read b"))
	if err != nil || s.Check() != nil {
		return
	}
	bound := speed.Of(s, []time.Duration{time.Millisecond, 5 * time.Millisecond, 2 * time.Millisecond})
	for _, turn := range bound.Circle {
		fmt.Println(s.Tasks[turn.Task].Name, turn.Time)
	}
	fmt.Println(bound.Period(), bound.WithWorkers(1))
	// Output:
	// filter 5ms
	// draw 2ms
	// 7ms 8ms
}
