package inspect

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

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
