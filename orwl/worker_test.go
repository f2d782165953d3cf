package orwl

import "testing"

// A worker that is about to sleep finds the step that becomes ready just then: whoever
// pushes it sees a worker that searches, and wakes none. A step that is forgotten ends
// the test by its time limit.
func TestWorkerLooksBeforeItSleeps(t *testing.T) {
	p := &pool{wake: make(chan struct{}, 1), over: make(chan struct{})}
	w := &worker{pool: p}
	p.workers = []*worker{w}
	late := new(step)
	p.drowsy = func() {
		if late != nil {
			w.push(late)
			late = nil
		}
	}
	if w.take() == nil {
		t.Error("there is no step, and the pool is not over")
	}
	p.finish()
	if w.take() != nil {
		t.Error("there is another step")
	}
}
