package looks

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/orwl/inspect"
)

// at is an access of a task, and puts its request into the line.
func at(l *Line, who string, p queue.PlaceState) Access {
	l.Requests = append(l.Requests, Request{Who: who, Mode: p.Mode, Granted: p.Granted, Held: p.Held, Ticket: p.Ticket})
	return Access{PlaceState: p, Line: l, For: time.Second}
}

// A look becomes a state: tasks by what they hold and wait for, queues by groups in the order of
// their tickets, which wrap around.
func TestLook(t *testing.T) {
	r, err := queue.New("x", 8)
	if err != nil {
		t.Fatal(err)
	}
	x := &Line{Resource: "x", Whole: true, Alone: true}
	wait := func(ticket uint32, mode queue.Mode) queue.PlaceState {
		return queue.PlaceState{Mode: mode, Requested: true, Ticket: ticket}
	}
	look := Look{Started: true, Tasks: []*Task{
		{Name: "d", Started: true, Accesses: []Access{at(x, "d", wait(2, queue.Write))}},
		{Name: "b", Started: true, Accesses: []Access{at(x, "b", wait(0, queue.Read))}},
		{Name: "c", Started: true, Accesses: []Access{at(x, "c", wait(1, queue.Read))}},
		{Name: "a", Started: true, Round: 3, Accesses: []Access{at(x, "a", queue.PlaceState{Mode: queue.Write, Held: true, Granted: true, Ticket: 1<<32 - 1})}},
		{Name: "over", Started: true, Over: true},
	}}
	x.Look(r)
	look.Lines = []*Line{x}
	s := look.State()
	const text = `a, round 3, holds x, works
d, round 0, waits to write x for 1s ──▶ a
b, round 0, waits to read x for 1s ──▶ a
c, round 0, waits to read x for 1s ──▶ a
`
	if s.String() != text || !s.Running || len(s.WaitsFor) != 3 || s.WaitsFor[0] != (inspect.WaitEdge{From: "d", To: "a", Resource: "x", Mode: "write"}) || s.Tasks[4].State != inspect.TaskEnded {
		t.Errorf("%v\n%+v", s, s)
	}
	const queue = `[{"mode":"write","granted":true,"members":[{"who":"a","node":0,"held":true}]},` +
		`{"mode":"read","granted":false,"members":[{"who":"b","node":0,"held":false},{"who":"c","node":0,"held":false}]},` +
		`{"mode":"write","granted":false,"members":[{"who":"d","node":0,"held":false}]}]`
	if b, err := json.Marshal(s.Resources[0].Queue); err != nil || string(b) != queue {
		t.Errorf("%s, %v, want\n%s", b, err, queue)
	}
}

// A step is queued if all is granted and no worker has begun it, and works if its body has begun.
func TestQueued(t *testing.T) {
	for _, c := range []struct {
		step, held bool
		want       inspect.TaskStatus
	}{{true, false, inspect.TaskQueued}, {true, true, inspect.TaskWorking}, {false, false, inspect.TaskWorking}} {
		task := &Task{Name: "t", Started: true, Step: c.step, Rounds: 7, Accesses: []Access{
			at(new(Line), "t", queue.PlaceState{Requested: !c.held, Granted: true, Held: c.held}),
		}}
		s := (&Look{Started: true, Tasks: []*Task{task}}).State().Tasks[0]
		if s.State != c.want || s.Rounds != 7 || s.For.Duration != time.Second {
			t.Errorf("%+v: %+v", c, s)
		}
	}
}

// A handle of no task is named only if nothing moves, the run has one node, and the resource is not
// broken.
func TestOutsider(t *testing.T) {
	broken := queue.State{Broken: queue.ErrBroken}
	for _, c := range []struct {
		line  Line
		still time.Duration
		want  int
	}{
		{Line{Alone: true}, time.Second, 1}, {Line{Alone: true}, 0, 0}, {Line{}, time.Second, 0}, {Line{Alone: true, Now: broken}, time.Second, 0},
	} {
		task := &Task{Name: "t", Started: true, Accesses: []Access{at(&c.line, "t", queue.PlaceState{Requested: true})}}
		s := (&Look{Started: true, Tasks: []*Task{task}, Still: c.still}).State()
		if got := s.Tasks[0].Waits.Behind; len(got) != c.want || c.want > 0 && got[0] != outsider {
			t.Errorf("%+v, still for %v: behind %q", c.line, c.still, got)
		}
	}
}

// Sightings count from the look that first saw a stamp.
func TestSightings(t *testing.T) {
	var s Sightings[string]
	begin := time.Unix(100, 0)
	after := func(seconds int) time.Time { return begin.Add(time.Duration(seconds) * time.Second) }
	s.Begin(begin)
	for _, c := range []struct {
		seconds int
		access  string
		stamp   uint64
		want    int
	}{{1, "a", 7, 0}, {3, "a", 7, 2}, {4, "b", 7, 0}, {5, "a", 8, 0}, {9, "a", 8, 4}, {9, "b", 7, 5}} {
		if got := s.See(c.access, c.stamp, after(c.seconds)); got != time.Duration(c.want)*time.Second {
			t.Errorf("%+v: seen for %v", c, got)
		}
	}
	if s.Still(after(9)) != 4*time.Second || !s.Moved().Equal(after(5)) {
		t.Errorf("nothing has moved for %v, since %v", s.Still(after(9)), s.Moved())
	}
	if s.Len() != 2 {
		t.Errorf("%d accesses are remembered", s.Len())
	}
	if s.Begin(after(10)); s.Len() != 0 || s.Still(after(10)) != 0 {
		t.Errorf("%d accesses are left, nothing has moved for %v", s.Len(), s.Still(after(10)))
	}
}
