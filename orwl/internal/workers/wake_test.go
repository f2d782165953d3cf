package workers

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/orwl/go-orwl/internal/rings"
)

var wakeTrials = rings.Size("workers.wakes", 4000, 20_000, 500_000, "TestNoWakeUpIsLost: trials with each number of workers")

// wakeStep is a step of TestNoWakeUpIsLost. It ends when over is closed.
type wakeStep struct {
	begun *atomic.Int32
	over  chan struct{}
}

// TestNoWakeUpIsLost pushes as many steps as there are workers, at about the moment at which one
// worker falls asleep. Any others sleep. No step ends before all have begun. When every goroutine
// is blocked for good and a step is in a queue, a wake-up was lost: nothing will change that state.
//
//	a worker   runs a step │ searches │ counts itself │ searches again │ sleeps
//	the test               ╰── pushes steps at any of these moments
//
// The pool has many more queues than workers, so that a search takes long. The test runs in
// ordinary builds, where TestExhaust and TestSeeds cannot stop a worker between two steps.
func TestNoWakeUpIsLost(t *testing.T) {
	trials := wakeTrials.N()
	if rings.Repeated() {
		trials = min(trials, 300) // the race detector makes a search of 512 queues slow
	}
	for workers := 1; workers <= 2; workers++ {
		t.Run(fmt.Sprint(workers), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := New[wakeStep](512)
				p.searches = 1
				for i := range workers {
					go runWakeSteps(p.Worker(i))
				}
				defer p.Finish()
				rng := rand.New(rand.NewPCG(1, 1))
				for trial := range trials {
					if !wakeTrial(p, workers, rng) {
						t.Errorf("trial %d: a step is in a queue, %d of %d workers sleep, and nothing will wake one", trial, p.sleeping.Load(), workers)
						return
					}
				}
			})
		})
	}
}

// wakeTrial is one trial. It reports whether each step has begun.
func wakeTrial(p *Pool[wakeStep], workers int, rng *rand.Rand) bool {
	synctest.Wait() // all workers sleep
	push := func(at, n int) (begun *atomic.Int32, end func()) {
		begun = new(atomic.Int32)
		over := make(chan struct{})
		for range n {
			p.Worker(at).Push(&wakeStep{begun, over}, Plain)
		}
		return begun, func() { close(over) }
	}
	first, end := push(0, 1)
	end()
	for looks := 0; first.Load() == 0; looks++ {
		if looks%100 == 99 {
			runtime.Gosched()
		}
		if looks == 20_000 {
			if synctest.Wait(); first.Load() == 0 {
				return false
			}
		}
	}
	for n := rng.IntN(2000); n > 0; n-- {
		first.Load()
	}
	// A worker looks at its own queue first. It has just passed one that it sees early, and still
	// comes to one that it sees late.
	at := rng.IntN(3)
	if rng.IntN(2) == 0 {
		at = rng.IntN(len(p.workers))
	}
	begun, end := push(at, workers)
	defer end()
	synctest.Wait()
	return int(begun.Load()) == workers
}

// TestPushPutsFirst stops a Push where it puts its step, until the only worker sleeps. Push has
// looked for sleepers too early if it does not look again.
func TestPushPutsFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		yield := func() { // others run until they block
			for range 100 {
				runtime.Gosched()
			}
		}
		for trial := range 20 {
			p, begun, over := New[wakeStep](1), new(atomic.Int32), make(chan struct{})
			close(over)
			w := p.Worker(0)
			w.mu.Lock()
			go w.Push(&wakeStep{begun, over}, Plain)
			yield()
			go runWakeSteps(w)
			yield()
			w.mu.Unlock()
			synctest.Wait()
			lost := begun.Load() == 0
			if p.Finish(); lost {
				t.Fatalf("trial %d: a step is in a queue, the worker sleeps, and nothing will wake it", trial)
			}
		}
	})
}

// runWakeSteps runs steps until the pool is over.
func runWakeSteps(w *Worker[wakeStep]) {
	for s := w.Take(); s != nil; s = w.Take() {
		for ; s != nil; s = w.Following() {
			s.begun.Add(1)
			<-s.over
		}
	}
}
