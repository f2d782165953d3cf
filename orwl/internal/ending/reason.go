package ending

import "sync"

// Reason is why a run ends because of other nodes. Its zero value is the reason of a node from the start
// of its run on. Several goroutines may use it.
//
//	before Begin    the first reason is kept, and ends the run when it begins
//	after Begin     each reason ends the run; the first one is Why
type Reason struct {
	mu    sync.Mutex
	run   func(error) // ends the run that is under way
	ended error       // why the run has ended, or ends when it begins
}

// Begin has end called when another node's failure ends the run.
func (r *Reason) Begin(end func(error)) {
	r.mu.Lock()
	r.run = end
	ended := r.ended
	r.mu.Unlock()
	if ended != nil {
		end(ended)
	}
}

// End ends the run that is under way, or is about to begin.
func (r *Reason) End(why error) {
	r.mu.Lock()
	run := r.run
	if r.ended == nil {
		r.ended = why
	}
	r.mu.Unlock()
	if run != nil {
		run(why)
	}
}

// Why is why the run ends, or nil.
func (r *Reason) Why() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ended
}
