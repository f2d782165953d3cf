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
	goOn  bool        // the run goes on without lost nodes
	apart error       // why this node must not go on, or nil
}

// Begin has end called when another node's failure ends the run. goOn: the run goes on without
// nodes that are lost.
func (f *Fate) Begin(end func(error), goOn bool) {
	f.mu.Lock()
	f.run, f.goOn = end, goOn
	if f.ended == nil && goOn && f.apart != nil {
		f.ended = f.apart
	}
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

// Part ends a run that goes on without nodes that are lost, because this node must not. Any
// other run ends by the loss, which tells more.
func (f *Fate) Part(why error) {
	f.mu.Lock()
	f.apart = why
	goOn := f.goOn
	f.mu.Unlock()
	if goOn {
		f.End(why)
	}
}

// Why is why the run ends, or nil.
func (f *Fate) Why() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.ended
}

// Survives reports whether the run goes on without nodes that are lost.
func (f *Fate) Survives() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.goOn
}
