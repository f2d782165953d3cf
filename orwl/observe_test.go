package orwl

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/orwl/go-orwl/internal/queue"
)

// counter is an observer that counts what each place does.
type counter struct {
	mu    sync.Mutex
	count map[*queue.Place]events
	began map[*Task]int
	ended map[*Task]int
}

func newCounter() *counter {
	return &counter{count: make(map[*queue.Place]events), began: make(map[*Task]int), ended: make(map[*Task]int)}
}

func (c *counter) Observe(e Event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch e.Kind {
	case Declared:
		e.Access.Place().Observe((*placeCounter)(c), queue.AllOrdered)
	case Began:
		c.began[e.Task]++
	case Ended:
		c.ended[e.Task]++
	}
}

type events struct{ requested, acquired, waited, released, cancelled int }

// placeCounter counts for a counter.
type placeCounter counter

func (c *placeCounter) Observe(e queue.Event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.count[e.Place]
	switch e.Kind {
	case queue.Requested:
		n.requested++
	case queue.Released:
		n.released++
	case queue.Withdrawn:
		n.cancelled++
	case queue.Acquired:
		n.acquired++
	case queue.Waiting:
		n.waited++
	}
	c.count[e.Place] = n
}

// The observer hears of everything once: each request, and the end of each.
func TestObserver(t *testing.T) {
	waited := 0
	for seed := range plans(t, 5) {
		p := drawPlan(seed)
		if len(p.order()) < len(p.tasks) {
			continue
		}
		c := newCounter()
		rt := p.declare(t, Options{Observers: []Observer{c}}, func(i int) func(*Task, int) error {
			return p.body(i, new([]uint64), noise(seed+uint64(i)))
		})
		if err := rt.Run(context.Background()); err != nil {
			t.Fatal(err)
		}
		for i, task := range rt.tasks {
			n := p.tasks[i].rounds
			if c.began[task] != 1 || c.ended[task] != 1 {
				t.Errorf("task %d has begun %d times, and ended %d times", i, c.began[task], c.ended[task])
			}
			for _, a := range task.accesses {
				want := events{requested: n, acquired: n, released: n}
				got := c.count[a.Place()]
				waited += got.waited
				if got.waited > got.acquired {
					t.Errorf("waited %d times for %d grants", got.waited, got.acquired)
				}
				if got.waited = 0; got != want {
					t.Fatalf("task %d: %+v, want %+v\nin %v", i, got, want, p)
				}
			}
		}
	}
	if waited == 0 {
		t.Error("no task has waited")
	}
}

// Only a task that has to wait is reported as waiting.
func TestObserverOfWaits(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2)) // so many workers
	synctest.Test(t, func(t *testing.T) {
		c := newCounter()
		rt := mustNew(t, Options{Observers: []Observer{c}, Stall: -1})
		r := rt.Resource("r", 0)
		first, second := rt.Task("first"), rt.Task("second")
		a, b := first.Write(r), second.Write(r)
		alone := rt.Task("alone") // so that the others are no circle, which has one worker
		alone.Write(rt.Resource("other", 0))
		alone.Each(1, func(int) error { return nil })
		goOn := make(chan struct{})
		first.Each(1, func(int) error { <-goOn; return nil })
		second.Each(2, func(int) error { return nil })
		ran := make(chan error)
		go func() { ran <- rt.Run(context.Background()) }()
		synctest.Wait() // the second sleeps
		close(goOn)
		if err := <-ran; err != nil {
			t.Fatal(err)
		}
		if got := c.count[a.Place()]; got.waited != 0 || got.acquired != 1 {
			t.Errorf("the first: %+v", got)
		}
		if got := c.count[b.Place()]; got.waited != 1 || got.acquired != 2 {
			t.Errorf("the second: %+v", got)
		}
	})
}

// Each of several observers is told of the end of a task that fails.
func TestObserversOfFailure(t *testing.T) {
	wrong := errors.New("wrong")
	one, other := newCounter(), newCounter()
	rt := mustNew(t, Options{Observers: []Observer{one, other}})
	task := rt.Task("task")
	a := task.Write(rt.Resource("r", 0))
	task.Each(1, func(int) error { return wrong })
	if err := rt.Run(context.Background()); !errors.Is(err, wrong) {
		t.Fatal(err)
	}
	for _, c := range []*counter{one, other} {
		if got := c.ended[task]; got != 1 {
			t.Errorf("it has ended %d times", got)
		}
		if want := (events{requested: 1, acquired: 1, released: 1}); c.count[a.Place()] != want {
			t.Errorf("%+v, want %+v", c.count[a.Place()], want)
		}
	}
}
