package orwl

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/orwl/go-orwl/resource"
)

// counter is an observer that counts what each place does.
type counter struct {
	mu    sync.Mutex
	count map[*resource.Place]events
}

type events struct{ requested, acquired, slept, released, cancelled int }

func (c *counter) note(p *resource.Place, change func(e *events)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.count[p]
	change(&e)
	c.count[p] = e
}

func (c *counter) Requested(p *resource.Place) { c.note(p, func(e *events) { e.requested++ }) }
func (c *counter) Released(p *resource.Place)  { c.note(p, func(e *events) { e.released++ }) }
func (c *counter) Cancelled(p *resource.Place) { c.note(p, func(e *events) { e.cancelled++ }) }
func (c *counter) Acquired(p *resource.Place, slept bool) {
	c.note(p, func(e *events) {
		e.acquired++
		if slept {
			e.slept++
		}
	})
}

// The observer hears of everything once: the first requests that the runtime
// makes, and what it takes back in the end.
func TestObserver(t *testing.T) {
	slept := 0
	for seed := range plans(t, 5) {
		p := drawPlan(seed)
		if len(p.order()) < len(p.tasks) {
			continue
		}
		for i := range p.tasks {
			p.tasks[i].style = []style{byRounds, byBreak, byVector}[i%3]
		}
		c := &counter{count: make(map[*resource.Place]events)}
		rt := p.declare(t, Options{Observer: c}, func(i int) func(*Task) error {
			return p.body(i, new([]uint64), noise(seed+uint64(i)), (*Task).Context)
		})
		if err := rt.Run(context.Background()); err != nil {
			t.Fatal(err)
		}
		for i, task := range rt.tasks {
			n := p.tasks[i].rounds
			want := events{requested: n, acquired: n, released: n}
			if n == 0 || p.tasks[i].style == byVector {
				want.requested++
				want.cancelled++
			}
			for _, a := range task.accesses {
				got := c.count[a.Place()]
				slept += got.slept
				if got.slept > got.acquired {
					t.Errorf("slept %d times for %d grants", got.slept, got.acquired)
				}
				if got.slept = 0; got != want {
					t.Fatalf("task %d: %+v, want %+v\nin %v", i, got, want, p)
				}
			}
		}
	}
	if slept == 0 {
		t.Error("nobody has slept")
	}
}

// Who need not wait does not sleep, and who has to does.
func TestObserverOfSleep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &counter{count: make(map[*resource.Place]events)}
		rt := mustNew(t, Options{Observer: c, Stall: -1})
		r := rt.Resource("r", 0)
		first, second := rt.Task("first"), rt.Task("second")
		a, b := first.Write(r), second.Write(r)
		goOn, done := make(chan struct{}), make(chan struct{})
		first.Do(func(t *Task) error {
			for range t.Rounds(1) {
				<-goOn
			}
			close(done)
			return nil
		})
		second.Do(func(t *Task) error {
			for round := range t.Rounds(2) {
				if round == 0 {
					<-done
				}
			}
			return nil
		})
		ran := make(chan error)
		go func() { ran <- rt.Run(context.Background()) }()
		synctest.Wait() // the second sleeps
		close(goOn)
		if err := <-ran; err != nil {
			t.Fatal(err)
		}
		if got := c.count[a.Place()]; got.slept != 0 || got.acquired != 1 {
			t.Errorf("the first: %+v", got)
		}
		if got := c.count[b.Place()]; got.slept != 1 || got.acquired != 2 {
			t.Errorf("the second: %+v", got)
		}
	})
}
