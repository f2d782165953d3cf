package orwl

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"sync"

	"github.com/orwl/go-orwl/handle"
	"github.com/orwl/go-orwl/internal/inner"
	"github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/internal/typed"
	"github.com/orwl/go-orwl/net/node"
	"github.com/orwl/go-orwl/orwl/internal/goroutine"
	"github.com/orwl/go-orwl/orwl/internal/message"
	"github.com/orwl/go-orwl/resource"
)

// Array declares a resource of n elements of type T, all zero. See [Runtime.Resource]. Its elements have this type
// for all who open it: another one is an error, at the declaration of an access and in all functions.
func Array[T any](rt *Runtime, name string, n int) *resource.Resource {
	one, wrong := reflect.TypeFor[T](), typed.Check[T]()
	if wrong != nil {
		return rt.resource(name, 0, nil, fmt.Errorf("resource %q: %w", name, wrong))
	}
	size := int(one.Size())
	if n < 0 || n > math.MaxInt/size {
		return rt.resource(name, 0, nil, fmt.Errorf("resource: %q: %w, not %d elements of %v", name, queue.ErrSize, n, one))
	}
	return rt.resource(name, n*size, one, nil)
}

// In is an access by which a task reads a resource as elements of type T. It has no method
// that writes.
type In[T any] struct{ access *Access }

// Out is an access by which a task writes a resource of elements of type T.
type Out[T any] struct{ access *Access }

// Reads declares that the task reads r in each round, as elements of type T:
//
//	in, out := orwl.Reads[float64](t, u), orwl.Writes[float64](t, v)
//	t.Each(100, func(int) error {
//		for i, x := range in.View().All() {
//			out.Slice()[i] = x / 2
//		}
//		return nil
//	})
func Reads[T any](t *Task, r *resource.Resource) In[T] {
	return In[T]{t.access(core(r), queue.Read, accepts[T])}
}

// Writes declares that the task writes r in each round, as elements of type T.
func Writes[T any](t *Task, r *resource.Resource) Out[T] {
	return Out[T]{t.access(core(r), queue.Write, accepts[T])}
}

// accepts returns an error if r cannot be viewed as elements of type T. Array has checked the type of its elements.
func accepts[T any](r *queue.Resource) error {
	if r.Elements() == reflect.TypeFor[T]() {
		return nil
	}
	return typed.CheckFor[T](r)
}

// View is the resource's elements, while the task holds the access: in a body of Each. To ask at another time ends the task
// with an error.
func (in In[T]) View() handle.View[T] { return shown[T](in.access) }

// Slice is the resource's elements, to be changed in place while the task holds the access.
// To ask at another time ends the task with an error. A round that does not ask writes
// nothing.
func (out Out[T]) Slice() []T {
	if t := out.access.task; t.by.Load() != goroutine.Number() { // own, without its call
		t.foreign(out.access)
	}
	p := &out.access.place
	if typed.Fits[T](p.Size()) { // before Writable: a release commits after that
		if b, err := p.Writable(); err == nil {
			return typed.Slice[T](b)
		}
	}
	return write[T](out.access) // it fails
}

// shown is Read of an access whose type Reads has checked.
func shown[T any](a *Access) handle.View[T] {
	if t := a.task; t.by.Load() != goroutine.Number() { // Slice does the same
		t.foreign(a)
	}
	if b, err := a.place.Bytes(); err == nil && typed.Fits[T](len(b)) {
		return handle.View[T](typed.ViewOf[T](b))
	}
	return read[T](a) // it fails
}

// Fill calls fill to set the elements of a resource, when its turn in the queue comes.
// Before [Runtime.Run] that is at once. If ctx ends first, nothing is left in the
// queue. If fill panics, nothing is committed.
//
// Fill also accepts a poisoned resource. Then fill must set all elements.
func Fill[T any](ctx context.Context, r *resource.Resource, fill func(elements []T)) error {
	if err := outside(core(r), queue.Write); err != nil {
		return err
	}
	return queue.Section(ctx, core(r), queue.Write, func(p *queue.Place) error {
		elements, err := typed.Write[T](p, new(typed.Memo))
		if err == nil {
			fill(elements)
		}
		return err
	})
}

// Values copies the elements of a resource, when its turn in the queue comes. After
// [Runtime.Run] that is at once. If ctx ends first, nothing is left in the queue.
// Elements that a failed task has left half written are an error: see
// [resource.ErrPoisoned].
func Values[T any](ctx context.Context, r *resource.Resource) (elements []T, err error) {
	if err := outside(core(r), queue.Read); err != nil {
		return nil, err
	}
	err = queue.Look(ctx, core(r), func(p *queue.Place) error {
		v, err := typed.Read[T](p, new(typed.Memo))
		elements = append(make([]T, 0, len(v.Elements())), v.Elements()...)
		return err
	})
	return elements, err
}

// outside returns an error if the calling goroutine runs a body of the run that has the resource for itself. The body would wait
// for the end of its own run, whatever its context is.
func outside(r *queue.Resource, mode queue.Mode) error {
	run, _ := r.Run().(*run)
	if run == nil || len(run.tasks) == 0 {
		return nil
	}
	if t := run.tasks[0].rt.caller(); t != nil {
		return &queue.PlaceError{Op: "acquire", Mode: mode, Resource: r.Name(), Err: fmt.Errorf("%w, and task %q is a task of this run: use an access that the task has declared", queue.ErrRunHas, t.name)}
	}
	return nil
}

// A run has its resources for itself. A snapshot looks in all the same: it copies the bytes between two rounds that
// write them. Other nodes ask the home:
//
//	Snapshot ──▶ question ──▶ home: Copy ──▶ answer, with the bytes

// errNoSnapshots is a snapshot of a resource for which none were declared.
var errNoSnapshots = errors.New("orwl: no snapshots of this resource are declared: declare them before its first run")

// Snapshots implements inner.Runtime.
func (rt innerRuntime) Snapshots(r *resource.Resource) {
	rt.declareOf(core(r), "snapshots", func(d *declared) error {
		d.snapshots = true
		return nil
	})
}

// Snapshot implements inner.Runtime.
func (rt innerRuntime) Snapshot(ctx context.Context, r *resource.Resource, dst []byte) (bytes []byte, version uint64, err error) {
	home, err := rt.copiedAt(core(r))
	if err != nil {
		return dst, 0, err
	}
	if home == rt.Node() {
		return core(r).Copy(ctx, dst)
	}
	return rt.o.Nodes.copies.ask(ctx, rt.o.Nodes, home, r.Name(), dst)
}

// copiedAt is the node that copies a resource.
func (rt *Runtime) copiedAt(r *queue.Resource) (home int, err error) {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	d := rt.mine(r)
	if d == nil {
		return 0, notMine(r, "a snapshot")
	}
	if !d.snapshots {
		return 0, fmt.Errorf("%w: %q", errNoSnapshots, r.Name())
	}
	if !rt.o.Nodes.many() {
		return 0, nil
	}
	if !d.settled {
		return 0, fmt.Errorf("%w: %q", inner.ErrEarly, r.Name())
	}
	return rt.homes[r.Name()], nil
}

// copies are what this node copies for others, and its questions for copies that others make.
type copies struct {
	mu    sync.Mutex
	kept  map[string]*queue.Resource
	last  uint64
	asked map[uint64]*question
}

// question is a call of Snapshot that waits.
type question struct {
	home   int
	answer chan copied // has room for one
}

// copied is an answer, or why there is none.
type copied struct {
	bytes   []byte
	version uint64
	err     error
}

// keep has the node copy a resource for others. From then on no lock of the runtime is needed: a node that begins its
// next run waits for the others, and one of them may wait for a copy.
func (c *copies) keep(r *queue.Resource) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.kept == nil {
		c.kept = make(map[string]*queue.Resource)
	}
	c.kept[r.Name()] = r
}

// ask asks a home for a copy.
func (c *copies) ask(ctx context.Context, n *Nodes, home int, name string, dst []byte) ([]byte, uint64, error) {
	q := &question{home, make(chan copied, 1)}
	c.mu.Lock()
	if c.asked == nil {
		c.asked = make(map[uint64]*question)
	}
	c.last++
	number := c.last
	c.asked[number] = q
	c.mu.Unlock()
	defer c.take(number)
	err := n.node.Send(home, copyChannel, message.Copy{Number: number, Resource: name}.Encode(), nil, false)
	if why := n.node.Lost(home); err != nil || why != nil {
		return dst, 0, &NodeError{Node: home, Text: errors.Join(err, why).Error(), Lost: true}
	}
	select {
	case a := <-q.answer:
		return append(dst, a.bytes...), a.version, a.err
	case <-ctx.Done():
		return dst, 0, fmt.Errorf("orwl: snapshot of %q: %w", name, queue.Reason(ctx))
	}
}

// take takes a question that is not answered yet, or nil.
func (c *copies) take(number uint64) *question {
	c.mu.Lock()
	defer c.mu.Unlock()
	q := c.asked[number]
	delete(c.asked, number)
	return q
}

// lost ends the questions to a node.
func (c *copies) lost(node int, why error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for number, q := range c.asked {
		if q.home == node {
			q.answer <- copied{err: why}
			delete(c.asked, number)
		}
	}
}

// copied takes a question of another node, or the answer of one.
func (n *Nodes) copied(from int, header, bulk []byte) error {
	m, err := message.ParseCopy(header)
	if err != nil {
		return fmt.Errorf("%w: %w", node.ErrProtocol, err)
	}
	if m.Resource != "" {
		go n.answer(from, m) // it may wait for a body
		return nil
	}
	q := n.copies.take(m.Number)
	switch {
	case q == nil: // the caller waits no more
	case m.Failure != "":
		q.answer <- copied{err: &NodeError{Node: from, Text: m.Failure}}
	default:
		q.answer <- copied{bytes: bytes.Clone(bulk), version: m.Writes}
	}
	return nil
}

// answer answers the question of another node.
func (n *Nodes) answer(from int, m message.Copy) {
	b, version, err := n.copyHere(m.Resource)
	m.Resource, m.Writes = "", version
	if err != nil {
		m.Failure, b = err.Error(), nil
	}
	// If it fails, that node is lost.
	_ = n.node.Send(from, copyChannel, m.Encode(), b, false)
}

// copyHere copies a resource whose home is here.
func (n *Nodes) copyHere(name string) ([]byte, uint64, error) {
	n.copies.mu.Lock()
	r := n.copies.kept[name]
	n.copies.mu.Unlock()
	if r == nil {
		return nil, 0, fmt.Errorf("%w: %q", errNoSnapshots, name)
	}
	return r.Copy(context.Background(), nil)
}

// declared is what a runtime knows of a resource. The runtime's mu guards it.
type declared struct {
	*queue.Resource
	run       int32  // the last run whose tasks name it
	number    uint32 // there, in the order in which the tasks name the resources first: the same on all nodes
	last      int32  // the last task that was seen to name it, counted from 1
	writes    bool   // an access of that task does
	settled   bool   // a run has used it
	snapshots bool   // there may be snapshots of it
}

// Resource declares a resource of size bytes, all zero. Resource names
// are unique.
//
// Run reports a wrong declaration. The resource is broken then: its first Acquire
// returns the same reason.
func (rt *Runtime) Resource(name string, size int) *resource.Resource {
	return rt.resource(name, size, nil, nil)
}

// resource is Resource with elements of a type, if that is not nil. wrong is what is wrong with the declaration.
func (rt *Runtime) resource(name string, size int, elements reflect.Type, wrong error) *resource.Resource {
	r, bad := queue.NewWith(name, size, queue.Options{
		FaultPages: rt.pages, Elements: elements,
		Relaxed: rt.relaxed,
	})
	if bad != nil {
		r, _ = queue.New(name, 0)
		wrong = bad
	}
	err := rt.declare("resource", name, func() error {
		if name == "" || rt.resources[name] != nil {
			return fmt.Errorf("%w: resource %q", errName, name)
		}
		rt.resources[name] = &declared{Resource: r}
		return wrong
	})
	if err != nil {
		r.Break(err)
		return (*resource.Resource)(r)
	}
	rt.tell(Event{Kind: Made, Resource: (*resource.Resource)(r), Guard: guardLock})
	return (*resource.Resource)(r)
}

// core is a resource as this module sees it.
func core(r *resource.Resource) *queue.Resource { return (*queue.Resource)(r) }

// mine is what this runtime knows of r, nil if it has not declared r. Nodes, liveness and homes know a resource by its name only, so another
// one of that name would pass for it. The caller holds mu.
func (rt *Runtime) mine(r *queue.Resource) *declared {
	if r == nil {
		return nil
	}
	if d := rt.resources[r.Name()]; d != nil && d.Resource == r {
		return d
	}
	return nil
}

// notMine is the error of a resource that this runtime has not declared. use says what it is needed for.
func notMine(r *queue.Resource, use string) error {
	if r == nil {
		return fmt.Errorf("%w: %s", errResource, use)
	}
	return fmt.Errorf("%w: %q, %s", errForeign, r.Name(), use)
}

// declareOf declares a property of r, for example its home.
func (rt *Runtime) declareOf(r *queue.Resource, what string, change func(d *declared) error) {
	name := ""
	if r != nil {
		name = r.Name()
	}
	rt.declare(what+" of resource", name, func() error {
		d := rt.mine(r)
		if d == nil {
			return notMine(r, what)
		}
		if d.settled {
			return fmt.Errorf("%w: %s of resource %q, which a run has used", errStarted, what, name)
		}
		return change(d)
	})
}

// lookup is the resource of that name, or nil.
func (rt *Runtime) lookup(name string) *resource.Resource {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	if d := rt.resources[name]; d != nil {
		return (*resource.Resource)(d.Resource)
	}
	return nil
}

// numberResources gives the resources that tasks name their numbers for this run, and returns how many there are. stuck reports whether
// a task has two accesses to one resource, and one of them writes: it never has both.
func (rt *Runtime) numberResources(tasks []*Task) (resources int, stuck bool) {
	for i, t := range tasks {
		for _, a := range t.accesses {
			d, writes := a.resource, a.mode == queue.Write
			if d.run != int32(rt.runs) {
				d.run, d.number, d.last = int32(rt.runs), uint32(resources), 0
			}
			resources = max(resources, int(d.number)+1)
			if d.last != int32(i+1) {
				d.last, d.writes = int32(i+1), writes
				continue
			}
			d.writes = d.writes || writes
			stuck = stuck || d.writes
		}
	}
	return resources, stuck
}
