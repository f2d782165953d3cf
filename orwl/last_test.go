package orwl

import (
	"errors"
	"strings"
	"testing"
)

// Last in a body of Do ends the task with an error that names it.
func TestLastInDo(t *testing.T) {
	rt := mustNew(t, Options{})
	task := rt.Task("loop")
	task.Write(rt.Resource("r", 8))
	task.Do(func(task *Task) error {
		for range task.Rounds(3) {
			task.Last()
		}
		return nil
	})
	err := rt.Run(t.Context())
	if !errors.Is(err, errLast) || isPanicked(err) || !strings.Contains(err.Error(), `task "loop"`) {
		t.Errorf("%v, want errLast of task loop", err)
	}
	checkIdle(t, rt)
}
