package resource

import (
	"errors"
	"fmt"
	"sync"

	"github.com/orwl/go-orwl/resource/internal/coherence"
)

// mirror joins the mirror's half of the protocol to the places of a resource that has its
// home on another node.
//
// Places are woken, and told of losses, when the mutex is free again: they may do anything.
type mirror struct {
	site *Site
	r    *Resource
	home Node

	mu     sync.Mutex
	half   coherence.Mirror
	turns  coherence.Turns
	life   uint64       // counts how often it has rejoined
	last   coherence.ID // of its requests
	away   error        // the home is not there, and why, until it is back
	epoch  uint64       // the home's
	came   uint64       // bytes, in all
	uses   int          // accesses that are over and not released: they may use the bytes
	fresh  bool         // it has retained a release, or released a write, since the last sweep
	keeper bool         // the next sweep will look at it

	writer     *Place     // of the last write that the home has not confirmed
	asking     *waiter    // for its answer, by next
	lostWrites *lostWrite // that some caller has not been told of

	wake  *waiter // to be granted, by next
	calls []call  // to be made
	fault error   // why the resource must be broken, or nil
}

// call tells a place that it has lost its grant.
type call struct {
	f   func(error)
	why error
}

// remote is the request or the access of a place at a mirror. The mirror's mutex guards it.
type remote struct {
	by      *Place
	id      coherence.ID
	granted bool
	inside  bool   // by has acquired, and uses the bytes
	err     error  // why it is over before its time, or nil
	fence   uint64 // of the grant
	came    uint64 // bytes that had come to the mirror when it was requested; then, for it
	w       *waiter
}

// unlock unlocks the mutex. Then it wakes the waiters, makes the calls that were noted, and
// breaks the resource if a step could not keep its bytes.
func (f *mirror) unlock() {
	if (f.writer != nil || f.asking != nil) && f.half.Unconfirmed() == 0 {
		f.answered()
	}
	w, calls, fault := f.wake, f.calls, f.fault
	f.wake, f.calls, f.fault = nil, nil, nil
	f.mu.Unlock()
	for w != nil {
		next := w.next
		for !w.grant(w.word.Load(), nil) {
		}
		w = next
	}
	for _, c := range calls {
		c.f(c.why)
	}
	if fault != nil {
		f.r.Break(fault)
	}
}

// take takes a message from the home, and those that came early and follow it. The mutex is
// held.
func (f *mirror) take(m *coherence.Message, s *scratch) error {
	return f.turns.Take(m, f.home, f.site.budget, func(m *coherence.Message) error {
		if m.Whole {
			f.came += uint64(len(m.Bytes))
		}
		brought := len(m.Bytes) // the step may exchange them
		err := f.half.Step(m, &s.work)
		f.do(s)
		if err == nil && m.Kind == coherence.PushMessage {
			for tag := range f.half.Waiting() {
				tag.(*remote).by.arrived(brought)
			}
		}
		if m.Kind == coherence.RefusedMessage && f.half.Over() != nil {
			if m.Reason == coherence.AnotherEpoch {
				f.epoch = m.Epoch
			}
			f.clearTurns()
			return nil // the message was for this life, and ended it
		}
		return err
	})
}

// do does the work of a step.
func (f *mirror) do(s *scratch) {
	for i := range s.work.Events {
		f.happen(&s.work.Events[i])
	}
	for i := range s.work.Messages {
		f.site.send(f.home, &s.work.Messages[i], f.r, s)
	}
	if s.work.Fault != nil {
		f.fault = s.work.Fault
	}
	s.work.Reset()
}

// happen is what the half tells of a request, or of the last write.
func (f *mirror) happen(e *coherence.Event) {
	switch e.Kind {
	case coherence.WriteLost:
		f.loseWrite(e)
		return
	case coherence.RequestGranted:
		f.r.ledger.Copy(e.Stamp)
		q := e.Tag.(*remote)
		q.granted, q.fence, q.came = true, e.Fence, f.came-q.came
		if q.came > 0 {
			q.by.arrived(int(q.came))
		}
		q.by.tell(GrantedFar)
		f.rouse(q)
	case coherence.RequestEnded:
		q := e.Tag.(*remote)
		q.err = e.Err
		if e.Held {
			f.site.counts.revoked.Add(1)
			f.site.ended(Ending{Resource: f.r, Node: f.site.o.Node, Grants: 1, Fence: e.Fence, Why: e.Err})
		}
		if !q.inside {
			f.rouse(q)
			return
		}
		f.uses++
		f.callLoss(q)
	}
}

// rouse has a request's place woken.
func (f *mirror) rouse(q *remote) {
	if q.w != nil {
		q.w.next, f.wake = f.wake, q.w
		q.w = nil
	}
}

// callLoss has the function called that the place has given to OnLoss.
func (f *mirror) callLoss(q *remote) {
	l := f.r.losses.Load()
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if tell := l.calls[q.by]; tell != nil {
		delete(l.calls, q.by)
		f.calls = append(f.calls, call{tell, q.err})
	}
}

// watched is called when a place that holds has asked to be told of its loss, which
// may have come before.
func (f *mirror) watched(p *Place) {
	f.mu.Lock()
	defer f.unlock()
	if p.x.remote.err != nil {
		f.callLoss(p.x.remote)
	}
}

// join begins a new life if the last one is over, and the home is there.
func (f *mirror) join() error {
	over := f.half.Over()
	switch {
	case f.away != nil:
		return f.away
	case over != nil && errors.Is(over, ErrBroken):
		return over
	case f.uses > 0: // they may still use the bytes
		return fmt.Errorf("%w: accesses of this node that are over have to be released first: %d", ErrStale, f.uses)
	case over == nil:
		return nil
	}
	f.life++
	f.r.changes = nil // some of it may never have come to the home
	return f.half.Rejoin(f.site.life(f.life), max(f.epoch, f.half.Epoch()))
}

// lost says that the home is lost, or may give this node up soon.
func (f *mirror) lost(why error) {
	f.mu.Lock()
	defer f.unlock()
	if f.away != nil {
		return
	}
	f.away = fmt.Errorf("%w: %w", ErrLost, why)
	s := f.site.scratch()
	defer f.site.spare(s)
	f.half.Lost(f.away, &s.work)
	f.do(s)
	f.clearTurns()
}

// back says that the home is there again, perhaps as one that knows nothing.
func (f *mirror) back(anew bool) {
	f.mu.Lock()
	defer f.unlock()
	f.away = nil
	if anew {
		f.half.Forget()
	}
}

// suspect ends all requests and begins a new life.
func (f *mirror) suspect(why error) {
	if f.away != nil {
		return
	}
	s := f.site.scratch()
	defer f.site.spare(s)
	if f.half.Suspect(fmt.Errorf("%w: %w", ErrSuspected, why), f.site.life(f.life+1), f.epoch, &s.work) {
		f.life++
		f.r.changes = nil
		f.clearTurns()
	}
	f.do(s)
}

// check ends all requests if the lease of the home's grants may be over by now.
func (f *mirror) check() {
	if suspected := f.site.o.Suspected; suspected != nil {
		if why := suspected(f.home); why != nil {
			f.suspect(why)
		}
	}
}

func (f *mirror) clearTurns() {
	f.turns.Drop(f.home, f.site.budget, func(*coherence.Message) bool { return true })
}

// breakDown wakes everybody, after the resource was broken.
func (f *mirror) breakDown() {
	f.mu.Lock()
	defer f.unlock()
	for tag := range f.half.Waiting() {
		f.rouse(tag.(*remote))
	}
}
