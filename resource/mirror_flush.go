package resource

import (
	"context"
	"errors"

	"github.com/orwl/go-orwl/resource/internal/coherence"
)

// lostWrite is a write that may be lost. Two must know: the place that wrote, and
// the caller of [Site.Flush].
type lostWrite struct {
	by        *Place
	err       *LostWriteError
	told      bool // by has been
	collected bool // for the node
	next      *lostWrite
}

// loseWrite notes that the home may not have the last write of this node.
func (f *mirror) loseWrite(e *coherence.Event) {
	err := &LostWriteError{Resource: f.r.name, Home: f.home, Fence: e.Fence, Err: e.Err}
	f.lostWrites = &lostWrite{by: f.writer, err: err, next: f.lostWrites}
	f.site.ended(Ending{Resource: f.r, Node: f.site.o.Node, Grants: 1, Fence: e.Fence, Why: err})
}

// tell is the lost write of a place that it has not been told of, or nil.
func (f *mirror) tell(p *Place) error {
	for l := f.lostWrites; l != nil; l = l.next {
		if l.by == p && !l.told {
			l.told = true
			f.forgetLost()
			return l.err
		}
	}
	return nil
}

// collectLost are the lost writes of a place, or of all places if by is nil.
func (f *mirror) collectLost(by *Place) (errs error) {
	f.mu.Lock()
	defer f.unlock()
	for l := f.lostWrites; l != nil; l = l.next {
		if by == nil && !l.collected || by == l.by {
			errs = errors.Join(errs, l.err)
			l.told = l.told || by == l.by
			l.collected = true
		}
	}
	f.forgetLost()
	return errs
}

// forgetLost drops the lost writes that everybody knows.
func (f *mirror) forgetLost() {
	for at := &f.lostWrites; *at != nil; {
		if l := *at; l.told && l.collected {
			*at = l.next
		} else {
			at = &l.next
		}
	}
}

// ask asks the home about the last write, if the place by wrote it, or any place if by is
// nil. It returns a waiter for the answer, nil if the answer is known.
func (f *mirror) ask(by *Place) *waiter {
	f.mu.Lock()
	defer f.unlock()
	if f.half.Unconfirmed() == 0 || by != nil && by != f.writer {
		return nil
	}
	s := f.site.scratch()
	defer f.site.spare(s)
	f.half.Confirm(&s.work)
	f.do(s)
	w := newWaiter(nil)
	w.word.Store(listed)
	w.next, f.asking = f.asking, w
	return w
}

// answer waits for the home's answer, or for the end of this life of the mirror.
func (f *mirror) answer(ctx context.Context, w *waiter) error {
	if w == nil {
		return nil
	}
	err := w.sleep(ctx)
	w.calm()
	if err != nil {
		return &PlaceError{Op: "flush", Mode: Write, Resource: f.r.name, Err: err}
	}
	return nil
}

// answered wakes all that wait for the home's answer.
func (f *mirror) answered() {
	f.writer = nil
	for w := f.asking; w != nil; {
		next := w.next
		w.next, f.wake = f.wake, w
		w = next
	}
	f.asking = nil
}
