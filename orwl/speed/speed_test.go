package speed_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/orwl/go-orwl/orwl/liveness"
	"github.com/orwl/go-orwl/orwl/speed"
)

// A task that holds its accesses one after the other counts in full alone, and not with others.
func TestSequence(t *testing.T) {
	s, err := liveness.Parse(strings.NewReader("task a: write x, write z\n" +
		"task b: write x, write y: acquire 1, release 1, acquire 2, release 2\ntask c: write y, write z"))
	if err != nil || s.Check() != nil {
		t.Fatal(err, s.Check())
	}
	bound := speed.Of(s, []time.Duration{4, 5, 3})
	if bound.Period() != 7 || len(bound.Circle) != 2 || bound.Work != 12 {
		t.Errorf("%+v", bound)
	}
	bound = speed.Of(s, []time.Duration{4, 9, 3})
	if bound.Period() != 9 || len(bound.Circle) != 1 || bound.Circle[0] != (speed.Turn{Task: 1, Time: 9}) {
		t.Errorf("%+v", bound)
	}
}

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
