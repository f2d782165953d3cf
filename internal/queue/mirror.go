package queue

import (
	"sync"

	"github.com/orwl/go-orwl/internal/queue/coherence"
)

// mirror joins the mirror's half of the protocol to the places of a resource that has its
// home on another node. The apart bit of the requested word sends places here. The state of
// such a place holds the ID of its request instead of a ticket. How its access ends is in
// leave.go, and what happens when the home is lost in flush.go.
//
// Places are woken when the mutex is free again: they may do anything.
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
	came   uint64       // bytes, in all
	uses   int          // accesses that are over and not released: they may use the bytes
	fresh  bool         // it has released a write since the last sweep
	keeper bool         // the next sweep will look at it

	writer     *Place     // of the last write that the home has not confirmed
	asking     *waiter    // for its answer, by next
	lostWrites *lostWrite // writes that no caller has been told of

	wake  *waiter // to be granted, by next
	fault error   // why the resource must be broken, or nil
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

// requestRemote is Request of a resource with its home elsewhere. A place that has lost a write is told so first,
// and requests again.
func (p *Place) requestRemote(m Mode) error {
	x := p.extra()
	if x.remote == nil {
		x.remote = new(remote)
	}
	if err := p.r.mirror.request(p, m); err != nil {
		return p.error("request", err)
	}
	p.tell(Requested)
	return nil
}

// request queues a place at the home.
func (f *mirror) request(p *Place, m Mode) error {
	f.mu.Lock()
	defer f.unlock()
	if err := f.tell(p); err != nil {
		return err
	}
	if f.r.completed.Load()&broken == 0 { // else Acquire says so
		if err := f.join(); err != nil {
			return err
		}
		s := f.site.scratch()
		defer f.site.spare(s)
		if err := f.half.Request(f.last+1, m, p.x.remote, &s.work); err != nil {
			return err
		}
		f.do(s)
	}
	f.queue(p, m)
	return nil
}

// queue makes the place one that waits: the grant comes to its waiter.
func (f *mirror) queue(p *Place, m Mode) {
	f.last++
	w, q := p.waiter(&f.r.queue, m, nil), p.x.remote
	*q = remote{by: p, id: f.last, came: f.came, w: w}
	w.next = nil
	if f.r.completed.Load()&broken != 0 {
		q.err = f.r.brokenError()
	} else {
		w.word.Store(listed)
	}
	p.listed, p.notified = true, false
	p.state.Set(uint64(f.last)*oneWriter | modeBit(m) | requestedBit)
}

// take takes a message from the home, and those that came early and follow it. The mutex is
// held.
func (f *mirror) take(m *coherence.Message, s *scratch) error {
	return f.turns.Take(m, f.home, f.site.budget, func(m *coherence.Message) error {
		f.came += uint64(len(m.Bytes))
		err := f.half.Step(m, &s.work)
		f.do(s)
		if m.Kind == coherence.RefusedMessage && f.half.Over() != nil {
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
	}
}

// rouse has a request's place woken.
func (f *mirror) rouse(q *remote) {
	if q.w != nil {
		q.w.next, f.wake = f.wake, q.w
		q.w = nil
	}
}

// unlock unlocks the mutex. Then it wakes the waiters, and breaks the resource if a step could not
// keep its bytes.
func (f *mirror) unlock() {
	if (f.writer != nil || f.asking != nil) && f.half.Unconfirmed() == 0 {
		f.answered()
	}
	w, fault := f.wake, f.fault
	f.wake, f.fault = nil, nil
	f.mu.Unlock()
	for w != nil {
		next := w.next
		for !w.grant(w.word.Load()) {
		}
		w = next
	}
	if fault != nil {
		f.r.Break(fault)
	}
}

// acquireRemote makes the granted request of a place an access.
func (p *Place) acquireRemote(s uint64) error {
	f, q := p.r.mirror, p.x.remote
	f.mu.Lock()
	f.check()
	err := q.err
	if err == nil {
		q.inside = true
	} else if lost := f.tell(p); lost != nil {
		err = lost
	}
	f.unlock()
	if err != nil {
		return p.failed("acquire", err)
	}
	p.listed = false
	p.state.Set(s ^ phaseBits)
	p.tell(Acquired)
	return nil
}

// over returns the error of op if the place's access has ended early.
func (p *Place) over(op string) error {
	f := p.r.mirror
	f.mu.Lock()
	defer f.mu.Unlock()
	if p.x.remote.err != nil {
		return p.error(op, p.x.remote.err)
	}
	return nil
}

// size is the size of the bytes once the request is granted, 0 before.
func (q *remote) size(f *mirror) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !q.granted || q.err != nil || f.r.completed.Load()&broken != 0 {
		return 0
	}
	return len(f.r.buffer.Bytes())
}

// here is how many bytes need not travel any more for the request, and how many have come
// since it was announced.
func (q *remote) here(f *mirror) (here, came int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case q.err != nil:
		return 0, 0
	case q.granted:
		return len(f.r.buffer.Bytes()), int(q.came)
	}
	if f.half.Here() {
		here = len(f.r.buffer.Bytes())
	}
	return here, int(f.came - q.came)
}

// held is the fence of the grant.
func (q *remote) held(f *mirror) uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return q.fence
}

// holds reports whether a request is granted.
func (f *mirror) holds(id coherence.ID) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.half.Holds(id)
}
