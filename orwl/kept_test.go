package orwl

import (
	"context"
	"errors"
	"testing"
)

// TestStopAtEnd stops a node while it waits for the tasks of the other one to end. Its run has no result, and the other one's has none then. So it is if
// the task of the other one fails.
func TestStopAtEnd(t *testing.T) {
	for _, fails := range []bool{false, true} {
		for node, err := range stopAtEnd(t, fails) {
			if err == nil {
				t.Errorf("node %d has a result", node)
			}
		}
	}
}

func stopAtEnd(t *testing.T, fails bool) []error {
	stop, stopped := make(chan struct{}), make(chan struct{})
	why := errors.New("this test stops")
	return runOn(2, Options{}, func(ctx context.Context, node int, rt *Runtime) error {
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		for i := range 2 {
			task := rt.Task([]string{"short", "long"}[i]).On(i)
			out := Writes[uint64](task, Array[uint64](rt, task.Name(), 1))
			task.Each(1, func(int) error {
				out.Slice()[0]++
				if i == 1 {
					if fails {
						return why
					}
					close(stop)
					<-stopped
				}
				return nil
			})
		}
		if node == 0 && !fails {
			go func() {
				<-stop
				cancel(why)
			}()
		}
		err := rt.Run(ctx)
		if node == 0 {
			close(stopped)
			if _, is := err.(*NodeError); fails != is || !fails && !errors.Is(err, why) {
				t.Errorf("the run of the node that waits: %v", err)
			}
		}
		return err
	})
}
