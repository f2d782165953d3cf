package orwl

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/orwl/go-orwl/orwl/exact"
	"github.com/orwl/go-orwl/resource"
)

// In each round, tasks put values into a reduction, and tasks read the value that comes of all of them. No task waits for
// all others but those that read:
//
//	put ──▶ part ┐
//	put ──▶ part ┼──▶ hidden task ──▶ record: end, now, before ──▶ Now, Before
//	put ──▶ part ┘
//
// The hidden tasks stand behind the last task that puts, in the order of the program. So the one proof covers them, and
// what a task reads follows from where it stands: a task behind them may read this round's value, a task before them
// the one of the round before. Many parts are combined by a tree of hidden tasks. The tree follows from the order of the
// tasks that put, and from nothing else: so the bits are the same on any nodes.

// Reduction is a value of type V that comes of what tasks put in each round, which is of type S. See [NewSum], [NewMax],
// [NewMin] and [NewReduction].
type Reduction[S, V any] struct {
	reduction
	combine func(into, from *S)
	value   func(*S) V
	start   V
	until   func(V) bool
}

// reduction is what reductions of all types have.
type reduction struct {
	rt      *Runtime
	name    string
	record  *resource.Resource
	puts    []*Access // the parts that tasks of the next run write
	reads   []*reader
	declare func() // declares the hidden tasks
	ends    bool   // it may end the run
	lag     int    // so many rounds later
}

// record is what the last hidden task writes.
type record[V any] struct {
	End         int64 // all tasks end after so many rounds; 0: not yet
	Now, Before V
}

// reader is a task that reads a record.
type reader struct {
	access *Access
	now    bool // this round's value
	behind bool // the task stands behind the hidden ones
}

// NewReduction declares a reduction. combine adds from to into, and value is the result of all. The parts are combined in
// a binary tree over the tasks that put, in the order of the program, so combine need not be associative.
func NewReduction[S, V any](rt *Runtime, name string, combine func(into, from *S), value func(*S) V) *Reduction[S, V] {
	r := &Reduction[S, V]{reduction: reduction{rt: rt, name: name}, combine: combine, value: value}
	r.record = Array[record[V]](rt, name, 1)
	r.declare = r.hide
	return r
}

// NewSum declares the sum of all values that the tasks add to what [Put.New] returns. It is exact, and rounded once: its
// bits are the same, however the values are divided among tasks.
//
//	sum := orwl.NewSum(rt, "sum")
//	put := sum.Put(t)
//	t.Each(100, func(int) error {
//		put.New().AddAll(cells)
//		return nil
//	})
func NewSum(rt *Runtime, name string) *Reduction[exact.Sum, float64] {
	return NewReduction(rt, name, (*exact.Sum).Merge, (*exact.Sum).Value)
}

// NewMax declares the greatest of all values.
func NewMax[T cmp.Ordered](rt *Runtime, name string) *Reduction[T, T] {
	return NewReduction(rt, name, func(into, from *T) { *into = max(*into, *from) }, func(v *T) T { return *v })
}

// NewMin declares the least of all values.
func NewMin[T cmp.Ordered](rt *Runtime, name string) *Reduction[T, T] {
	return NewReduction(rt, name, func(into, from *T) { *into = min(*into, *from) }, func(v *T) T { return *v })
}

// Put is how a task puts a value in each round. A round that puts none puts the last one again.
type Put[S any] struct{ part Out[S] }

// Put declares that the task puts a value in each round. Its body is one of [Task.Each].
func (r *Reduction[S, V]) Put(t *Task) Put[S] {
	name := fmt.Sprintf("%s: %s", r.name, t.name)
	part := r.rt.lookup(name)
	if part == nil {
		part = Array[S](r.rt, name, 1)
	}
	out := Writes[S](t, part)
	r.join()
	r.puts = append(r.puts, out.access)
	return Put[S]{out}
}

// Set puts a value, in the body of the task.
func (p Put[S]) Set(v S) { p.part.Slice()[0] = v }

// New is the value that the round puts, empty at first, to be changed in place.
func (p Put[S]) New() *S {
	part := p.part.Slice()
	clear(part)
	return &part[0]
}

// Reduced is how a task reads the value of a reduction.
type Reduced[S, V any] struct {
	of *Reduction[S, V]
	*reader
}

// Now declares that the task reads this round's value. It stands behind all tasks that put, in the order of the program.
func (r *Reduction[S, V]) Now(t *Task) Reduced[S, V] { return r.read(t, true) }

// Before declares that the task reads the value of the round before.
func (r *Reduction[S, V]) Before(t *Task) Reduced[S, V] { return r.read(t, false) }

func (r *Reduction[S, V]) read(t *Task, now bool) Reduced[S, V] {
	at := &reader{access: Reads[record[V]](t, r.record).access, now: now}
	r.join()
	r.reads = append(r.reads, at)
	return Reduced[S, V]{r, at}
}

// Start says what Before reads in the first round: the zero value by default.
func (r *Reduction[S, V]) Start(v V) *Reduction[S, V] {
	r.start = v
	return r
}

// Value is the value, in the body of the task.
func (r Reduced[S, V]) Value() V {
	v := shown[record[V]](r.access).At(0)
	switch {
	case r.now:
		return v.Now
	case r.access.task.step.round == 0:
		return r.of.start
	case r.behind:
		return v.Before
	}
	return v.Now
}

// fan is how many parts a hidden task combines: a power of two, so that the tree is the same binary one.
const fan = 16

// hide declares the hidden tasks.
func (r *Reduction[S, V]) hide() {
	in := make([]*resource.Resource, len(r.puts))
	for i, a := range r.puts {
		in[i] = (*resource.Resource)(a.resource.Resource)
	}
	for level := 1; len(in) > fan; level++ {
		var out []*resource.Resource
		for part := range slices.Chunk(in, fan) {
			name := fmt.Sprintf("%s, %d.%d", r.name, level, len(out)+1)
			sum := r.rt.lookup(name)
			if sum == nil {
				sum = Array[S](r.rt, name, 1)
			}
			t := r.rt.Task(name)
			parts, to := r.parts(t, part), Writes[S](t, sum)
			t.Each(r.rounds(), func(int) error {
				to.Slice()[0] = r.all(parts)
				return nil
			})
			out = append(out, sum)
		}
		in = out
	}
	t := r.rt.Task(r.name)
	parts, to := r.parts(t, in), Writes[record[V]](t, r.record)
	t.Each(r.rounds(), func(round int) error {
		sum := r.all(parts)
		rec := &to.Slice()[0]
		if round == 0 {
			rec.End = 0 // of the stage before
		}
		rec.Before, rec.Now = rec.Now, r.value(&sum)
		if r.until != nil && rec.End == 0 && r.until(rec.Now) {
			rec.End = int64(round + 1 + r.lag)
		}
		return nil
	})
}

// parts declares that a hidden task reads parts.
func (r *Reduction[S, V]) parts(t *Task, of []*resource.Resource) []In[S] {
	parts := make([]In[S], len(of))
	for i, part := range of {
		parts[i] = Reads[S](t, part)
	}
	return parts
}

// all combines parts in a binary tree.
func (r *Reduction[S, V]) all(parts []In[S]) S {
	if len(parts) == 1 {
		return parts[0].View().At(0)
	}
	half := 1
	for 2*half < len(parts) {
		half *= 2
	}
	left, right := r.all(parts[:half]), r.all(parts[half:])
	r.combine(&left, &right)
	return left
}

// join makes the reduction one of the next run.
func (r *reduction) join() {
	r.rt.mu.Lock()
	defer r.rt.mu.Unlock()
	if !slices.Contains(r.rt.reductions, r) {
		r.rt.reductions = append(r.rt.reductions, r)
	}
}

// rounds is how many rounds the tasks that put have.
func (r *reduction) rounds() int { return r.puts[0].task.step.rounds }

// errReduction is a reduction that cannot be.
var errReduction = errors.New("orwl: reduction")

// check is what is wrong with a reduction, if anything. number has the tasks of the run, and ends says that a reduction
// ends it.
func (r *reduction) check(number map[*Task]int, ends bool) error {
	if len(r.puts) == 0 {
		return fmt.Errorf("%w %q has no task that puts: call Put for each", errReduction, r.name)
	}
	slices.SortStableFunc(r.puts, func(a, b *Access) int { return cmp.Compare(number[a.task], number[b.task]) })
	for _, a := range r.puts {
		switch s := a.task.step; {
		case s == nil:
			return fmt.Errorf("%w %q: task %q puts, and its body is none of Each", errReduction, r.name, a.task.name)
		case s.rounds != r.rounds():
			return fmt.Errorf("%w %q: task %q has %d rounds, and task %q %d: give all that put the same", errReduction, r.name, a.task.name, s.rounds, r.puts[0].task.name, r.rounds())
		}
	}
	if r.rounds() < 0 && !ends {
		return fmt.Errorf("%w %q: the tasks that put have no last round: give Each their number, or say Until", errReduction, r.name)
	}
	last := r.puts[len(r.puts)-1].task
	for _, at := range r.reads {
		t := at.access.task
		at.behind = number[t] > number[last]
		switch {
		case t.step == nil:
			return fmt.Errorf("%w %q: task %q reads it, and its body is none of Each", errReduction, r.name, t.name)
		case at.now && !at.behind:
			return fmt.Errorf("%w %q: task %q reads this round's value, and task %q puts behind it: declare %q after that, or read by Before",
				errReduction, r.name, t.name, last.name, t.name)
		}
	}
	return nil
}

// reduce declares the hidden tasks of the next run, behind the tasks that put.
func (rt *Runtime) reduce() {
	rt.mu.Lock()
	rt.until = nil
	all := rt.reductions
	if len(all) == 0 {
		rt.mu.Unlock()
		return
	}
	tasks := slices.Clone(rt.tasks)
	rt.mu.Unlock()
	number := make(map[*Task]int, len(tasks))
	for i, t := range tasks {
		number[t] = i
	}
	type place struct {
		behind *Task
		hidden []*Task
	}
	var places []place
	ends := slices.ContainsFunc(all, func(r *reduction) bool { return r.ends })
	for _, r := range all {
		if err := r.check(number, ends); err != nil {
			rt.declare("reduction", r.name, func() error { return err })
			return
		}
		before := len(rt.tasks)
		r.declare()
		places = append(places, place{r.puts[len(r.puts)-1].task, slices.Clone(rt.tasks[before:])})
	}
	rt.mu.Lock()
	rt.tasks = slices.Clone(tasks)
	for _, p := range places {
		rt.tasks = slices.Insert(rt.tasks, slices.Index(rt.tasks, p.behind)+1, p.hidden...)
	}
	rt.mu.Unlock()
	for _, r := range all {
		if r.ends {
			r.end(tasks)
		}
	}
	rt.mu.Lock()
	for _, r := range rt.reductions {
		r.puts, r.reads = nil, nil
	}
	rt.reductions = nil
	rt.mu.Unlock()
}
