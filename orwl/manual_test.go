package orwl

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/orwl/go-orwl/internal/queue"
)

// alone runs a program of one task with one access.
func alone(t testing.TB, body func(t *Task, a *Access) error) error {
	rt := mustNew(t, Options{})
	task := rt.Task("a")
	a := task.Write(rt.Resource("r", 8))
	task.Do(func(t *Task) error { return body(t, a) })
	err := rt.Run(context.Background())
	checkIdle(t, rt)
	return err
}

// byOne is accesses that a body acquires and releases one after another.
type byOne []*Access

func (all byOne) Acquire(ctx context.Context) error {
	for _, a := range all {
		if err := a.Acquire(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (all byOne) Next() error {
	var errs error
	for _, a := range all {
		errs = errors.Join(errs, a.Next())
	}
	return errs
}

// The last of so many rounds announces no other one.
func TestRoundsEnd(t *testing.T) {
	err := alone(t, func(t *Task, a *Access) error {
		for range t.Rounds(2) {
		}
		if a.Place().Requested() || a.Place().Held() {
			panic("not idle after the last round")
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	for name, c := range map[string]struct {
		body func(t *Task, a *Access) error
		want error
	}{
		"rounds after the last": {func(t *Task, a *Access) error {
			for range t.Rounds(1) {
			}
			for range t.Rounds(1) {
				panic("a round")
			}
			return nil
		}, errRounds},
		"rounds after the loop was left": {func(t *Task, a *Access) error {
			for range t.Rounds(2) {
				break
			}
			for range t.Rounds(1) {
				panic("a round")
			}
			return nil
		}, errRounds},
		"rounds after rounds that failed": {func(t *Task, a *Access) error {
			for range t.Rounds(2) {
				if err := a.Release(); err != nil {
					return err
				}
			}
			for range t.Rounds(1) {
				panic("a round")
			}
			return nil
		}, queue.ErrNotHeld},
		"rounds within a round": {func(t *Task, a *Access) error {
			for round := range t.Rounds(2) {
				if round > 0 {
					panic("a round after one that failed")
				}
				for range t.Rounds(1) {
					panic("a round")
				}
			}
			return nil
		}, errRounds},
		"released within a round": {func(t *Task, a *Access) error {
			for range t.Rounds(2) {
				if err := a.Release(); err != nil {
					return err
				}
			}
			return nil
		}, queue.ErrNotHeld},
		"next within a round": {func(t *Task, a *Access) error {
			for range t.Rounds(2) {
				if err := a.Next(); err != nil {
					return err
				}
			}
			return nil
		}, queue.ErrNotHeld},
		"release without acquire": {func(t *Task, a *Access) error { return a.Release() }, queue.ErrNotHeld},
		"next without acquire":    {func(t *Task, a *Access) error { return a.Next() }, queue.ErrNotHeld},
	} {
		if err := alone(t, c.body); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}

func TestNoRounds(t *testing.T) {
	err := alone(t, func(t *Task, a *Access) error {
		for range t.Rounds(0) {
			panic("a round")
		}
		if !a.Place().Requested() {
			panic("the request is gone")
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// A body that leaves the loop early still holds everything, and may go on by hand.
func TestBreak(t *testing.T) {
	err := alone(t, func(t *Task, a *Access) error {
		for round := range t.Rounds(-1) {
			if round == 2 {
				break
			}
		}
		Write[uint64](a)[0] = 7
		if err := a.Next(); err != nil {
			return err
		}
		if !a.Place().Requested() {
			panic("no fourth round announced")
		}
		for round := range t.Rounds(1) {
			if round != 0 || Read[uint64](a).At(0) != 7 {
				panic("not where it was left")
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// A task that cancels its access leaves the others in their order.
func TestWithdrawn(t *testing.T) {
	rt := mustNew(t, Options{})
	r := rt.Resource("r", 0)
	var order []string
	for _, name := range []string{"a", "b", "c"} {
		task := rt.Task(name)
		a := task.Write(r)
		task.Do(func(t *Task) error {
			if name == "b" {
				return a.Cancel()
			}
			for range t.Rounds(2) {
				order = append(order, name)
			}
			return nil
		})
	}
	if err := rt.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	if want := []string{"a", "c", "a", "c"}; !slices.Equal(order, want) {
		t.Errorf("%v, want %v", order, want)
	}
	checkIdle(t, rt)
}

// Rounds that cannot begin say why, and the next step, in the task's own words.
func TestRoundsThatCannotBegin(t *testing.T) {
	for want, body := range map[string]func(t *Task, a *Access) error{
		`orwl: task "a": orwl: Rounds cannot begin: no request for "r" (write) is in the queue, as after the last round of a Rounds loop: ` +
			`put all rounds into one loop`: func(t *Task, a *Access) error {
			for range t.Rounds(1) {
			}
			for range t.Rounds(1) {
			}
			return nil
		},
		`orwl: task "a": orwl: Rounds cannot begin: the task holds "r" (write) already, as inside a Rounds loop and after it was left early: ` +
			`put all rounds into one loop`: func(t *Task, a *Access) error {
			for range t.Rounds(2) {
				break
			}
			for range t.Rounds(1) {
			}
			return nil
		},
	} {
		if err := alone(t, body); err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}
