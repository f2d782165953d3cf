package fate

import "sync"

// Fate is why a run ends because of other nodes. Its zero value is the fate of a node from the start
// of its run on. Several goroutines may use it.
//
//	before Begin    the first reason is kept, and ends the run when it begins
//	after Begin     each reason ends the run; the first one is Why
type Fate struct {
	mu    sync.Mutex
	run   func(error) // ends the run that is under way
	ended error       // why the run has ended, or ends when it begins
}

// Begin has end called when another node's failure ends the run.
func (f *Fate) Begin(end func(error)) {
	f.mu.Lock()
	f.run = end
	ended := f.ended
	f.mu.Unlock()
	if ended != nil {
		end(ended)
	}
}

// End ends the run that is under way, or is about to begin.
func (f *Fate) End(why error) {
	f.mu.Lock()
	run := f.run
	if f.ended == nil {
		f.ended = why
	}
	f.mu.Unlock()
	if run != nil {
		run(why)
	}
}

// Why is why the run ends, or nil.
func (f *Fate) Why() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.ended
}
