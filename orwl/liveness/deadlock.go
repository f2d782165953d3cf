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
	// Stuck is the number of tasks that would never run: the tasks of this cycle, of
	// other cycles, and all that wait for them.
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

	For       string // the task of the access ahead, and the Task of the next Wait
	ForAccess int
	ForMode   resource.Mode
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
	if len(e.Cycle) == 1 {
		fmt.Fprintf(&text, "\n\tlet %s ask for %s once, to write", spell(e.Cycle[0].Task), spell(e.Cycle[0].Resource))
	} else {
		text.WriteString("\n\tgive the accesses of this cycle other priorities, or none: then the tasks take turns in their order")
	}
	return text.String()
}

// String is the wait in words.
func (w Wait) String() string {
	text := fmt.Sprintf("%s waits to %v %s (access %d)", spell(w.Task), w.Mode, spell(w.Resource), w.Access+1)
	switch {
	case !w.Granted:
		text += fmt.Sprintf(" behind %s, which waits to %v it", spell(w.For), w.ForMode)
	case w.For == w.Task:
		text += fmt.Sprintf(", which it holds itself to %v", w.ForMode)
	default:
		text += fmt.Sprintf(", which %s holds to %v", spell(w.For), w.ForMode)
	}
	return text + fmt.Sprintf(" (access %d)", w.ForAccess+1)
}

// deadlock finds a cycle after a round in which some tasks did not fire. Such a task
// has an access that is not granted, so a conflicting request is ahead of it. This
// request is a first request that is still in the queue, so its task did not fire
// either. The search goes from task to task in this way and must come back to a task
// that it has seen. The cycle begins with its first task.
func (r *round) deadlock() *DeadlockError {
	t := 0
	for r.missing[t] == 0 {
		t++
	}
	var path []Wait
	var tasks []int
	at := make(map[int]int) // the index in path of each task on it
	fronts := make(map[*FIFO]front)
	begin, met := 0, false
	for ; !met; begin, met = at[t] {
		at[t] = len(path)
		id, ahead := r.wait(t, fronts)
		path, tasks = append(path, r.describe(id, ahead)), append(tasks, t)
		t = r.accesses[ahead].task
	}
	path, tasks = path[begin:], tasks[begin:]
	first := slices.Index(tasks, slices.Min(tasks))
	return &DeadlockError{
		Cycle: slices.Concat(path[first:], path[:first]),
		Stuck: len(r.system.Tasks) - r.fired, Tasks: len(r.system.Tasks),
	}
}

// wait finds an access of the stuck task t that is not granted, and an access ahead
// that it waits for. It prefers an access of t itself.
func (r *round) wait(t int, fronts map[*FIFO]front) (id, ahead int) {
	own := make(map[*FIFO]int) // the granted accesses of t
	id = -1
	for i := r.begin[t]; i < r.begin[t+1]; i++ {
		if r.granted(i) {
			own[r.accesses[i].fifo] = i
		} else if id < 0 {
			id = i
		}
	}
	for i := id; i < r.begin[t+1]; i++ {
		a := r.accesses[i]
		if mine, both := own[a.fifo]; both && !r.granted(i) && r.conflict(i, mine) {
			return i, mine
		}
	}
	fifo := r.accesses[id].fifo
	f, known := fronts[fifo]
	if !known {
		f = r.front(fifo)
		fronts[fifo] = f
	}
	if r.conflict(id, f.first) {
		return id, f.first
	}
	return id, f.writer
}

// front is the beginning of a stuck queue: its first request, which is granted, and
// its first writer.
type front struct{ first, writer int }

// front finds the front of a queue that has a request and a writer.
func (r *round) front(fifo *FIFO) front {
	f := front{-1, -1}
	fifo.All(func(_ int, mode resource.Mode, id resource.ID) bool {
		if f.first < 0 {
			f.first = int(id)
		}
		f.writer = int(id)
		return mode == resource.Read
	})
	return f
}

func (r *round) granted(id int) bool {
	granted, _ := r.accesses[id].fifo.Granted(resource.ID(id))
	return granted
}

// conflict reports whether two accesses to one resource exclude each other.
func (r *round) conflict(x, y int) bool {
	return r.accesses[x].mode == resource.Write || r.accesses[y].mode == resource.Write
}

// describe makes a Wait of two numbers of accesses.
func (r *round) describe(id, ahead int) Wait {
	waits, goes := r.accesses[id].task, r.accesses[ahead].task
	access := id - r.begin[waits]
	return Wait{
		Task: r.system.Tasks[waits].Name, Access: access, Mode: r.accesses[id].mode,
		Resource: r.system.Tasks[waits].Accesses[access].Resource,
		For:      r.system.Tasks[goes].Name, ForAccess: ahead - r.begin[goes], ForMode: r.accesses[ahead].mode,
		Granted: r.granted(ahead),
	}
}
