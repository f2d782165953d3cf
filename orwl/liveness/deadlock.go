package liveness

import (
	"fmt"
	"slices"
	"strings"

	"github.com/orwl/go-orwl/resource"
)

// DeadlockError tells why a System would come to a stop: tasks wait for one another in
// a cycle.
type DeadlockError struct {
	// Cycle is the waits in order. The last task waits for the first.
	Cycle []Wait
	// Stuck is the number of tasks that would never end a round: the tasks of this
	// cycle, of other cycles, and all that wait for them.
	Stuck int
	// Tasks is the number of all tasks.
	Tasks int
}

// Wait is a task that waits for ever for a conflicting access ahead of its own.
// Accesses are counted from 0 within their tasks.
type Wait struct {
	Task     string
	Access   int // the access that waits
	Resource string
	Mode     resource.Mode
	// Step is the step of the Sequence in which the task waits, counted from 0. It is -1
	// if the task has no Sequence.
	Step int

	For       string // the task of the access ahead, and the Task of the next Wait
	ForAccess int
	ForMode   resource.Mode
	ForStep   int // in which For would release the access ahead; -1 if it has no Sequence
	// Granted is true if the access ahead is granted. Otherwise readers hold the
	// resource, Task waits to read, and For waits ahead of it to write.
	Granted bool
}

// shownWaits is the greatest number of waits that a message shows.
const shownWaits = 12

func (e *DeadlockError) Error() string {
	var text strings.Builder
	fmt.Fprintf(&text, "liveness: deadlock: of %d tasks, %d would wait for ever:", e.Tasks, e.Stuck)
	for i, w := range e.Cycle {
		left := len(e.Cycle) - shownWaits
		switch {
		case left <= 0 || i < shownWaits-1 || i == len(e.Cycle)-1:
			text.WriteString("\n\t" + w.String())
		case i == shownWaits-1:
			fmt.Fprintf(&text, "\n\t... and %d more like that ...", left)
		}
	}
	text.WriteString("\n\t" + e.advice())
	return text.String()
}

// advice is what the programmer can do.
func (e *DeadlockError) advice() string {
	w := e.Cycle[0]
	switch {
	case len(e.Cycle) > 1:
		return "give the accesses of this cycle other priorities, or none: then the tasks take turns in their order"
	case w.Step >= 0:
		return fmt.Sprintf("let %s release access %d before it acquires access %d", spell(w.Task), w.ForAccess+1, w.Access+1)
	}
	return fmt.Sprintf("let %s ask for %s once, to write", spell(w.Task), spell(w.Resource))
}

// String is the wait in words.
func (w Wait) String() string {
	text := spell(w.Task) + " waits "
	if w.Step >= 0 {
		text += fmt.Sprintf("in step %d ", w.Step+1)
	}
	text += fmt.Sprintf("to %v %s (access %d)", w.Mode, spell(w.Resource), w.Access+1)
	switch {
	case !w.Granted:
		text += fmt.Sprintf(" behind %s, which waits to %v it", spell(w.For), w.ForMode)
	case w.For == w.Task:
		text += fmt.Sprintf(", which it holds itself to %v", w.ForMode)
	default:
		text += fmt.Sprintf(", which %s holds to %v", spell(w.For), w.ForMode)
	}
	text += fmt.Sprintf(" (access %d)", w.ForAccess+1)
	if w.ForStep >= 0 {
		text += fmt.Sprintf(" and releases in step %d", w.ForStep+1)
	}
	return text
}

// deadlock finds a cycle after a round that some tasks did not end. Such a task waits
// in a step for an access that is not granted, so a conflicting request is ahead of it.
// This request is a first request that is still in the queue, so its task waits too, in
// a step before the release. The search goes from task to task in this way and must
// come back to a task that it has seen. The cycle begins with its first task.
func (r *round) deadlock() *DeadlockError {
	t := 0
	for r.missing[t] == 0 {
		t++
	}
	var path []Wait
	var tasks []int
	at := make(map[int]int)         // the index in path of each task on it
	fronts := make(map[int32]front) // by queue
	begin, met := 0, false
	for ; !met; begin, met = at[t] {
		at[t] = len(path)
		n, ahead := r.wait(t, fronts)
		path, tasks = append(path, r.describe(n, ahead)), append(tasks, t)
		t = int(r.accesses[ahead].task)
	}
	path, tasks = path[begin:], tasks[begin:]
	first := slices.Index(tasks, slices.Min(tasks))
	return &DeadlockError{
		Cycle: slices.Concat(path[first:], path[:first]),
		Stuck: len(r.system.Tasks) - r.ended, Tasks: len(r.system.Tasks),
	}
}

// wait finds an access that the stuck task t waits for in its step, and an access ahead
// of it. It prefers an access of t itself.
func (r *round) wait(t int, fronts map[int32]front) (n, ahead number) {
	own := make(map[int32]number) // by queue: the granted accesses of t that it has not released
	for i := r.begin[t]; i < r.begin[t+1]; i++ {
		if r.holds(i) {
			own[r.accesses[i].queue] = i
		}
	}
	for _, a := range r.steps[t][r.at[t]].Accesses {
		i := r.begin[t] + number(a)
		if r.accesses[i].granted {
			continue
		}
		if mine, both := own[r.accesses[i].queue]; both && r.conflict(i, mine) {
			return i, mine
		}
		if n == 0 {
			n = i
		}
	}
	queue := r.accesses[n].queue
	f, known := fronts[queue]
	if !known {
		f = r.front(queue)
		fronts[queue] = f
	}
	if r.conflict(n, f.first) {
		return n, f.first
	}
	return n, f.writer
}

// front is the beginning of a stuck queue: its first request, which is granted, and
// its first writer.
type front struct{ first, writer number }

// front finds the front of a queue that has a request and a writer.
func (r *round) front(queue int32) (f front) {
	r.queues[queue].each(r.requests, func(_ int, n number) bool {
		if f.first == 0 {
			f.first = n
		}
		f.writer = n
		return r.requests[n].mode == resource.Read
	})
	return f
}

// holds reports whether the first request of an access is granted and not released.
func (r *round) holds(n number) bool { return r.requests[n].granted }

// conflict reports whether two accesses to one resource exclude each other.
func (r *round) conflict(x, y number) bool {
	return r.accesses[x].mode == resource.Write || r.accesses[y].mode == resource.Write
}

// describe makes a Wait of two numbers of accesses.
func (r *round) describe(n, ahead number) Wait {
	waits, goes := r.accesses[n].task, r.accesses[ahead].task
	task, other := r.system.Tasks[waits], r.system.Tasks[goes]
	access, before := int(n-r.begin[waits]), int(ahead-r.begin[goes])
	return Wait{
		Task: task.Name, Access: access, Resource: task.Accesses[access].Resource,
		Mode: r.accesses[n].mode, Step: task.step(Acquire, access),
		For: other.Name, ForAccess: before, ForMode: r.accesses[ahead].mode, ForStep: other.step(Release, before),
		Granted: r.holds(ahead),
	}
}
