package orwl

import (
	"context"
	"errors"

	"github.com/orwl/go-orwl/internal/queue"
)

// A task with a goroutine takes its turns by itself, in a run that goes by a plan:
//
//	            ┌────────────── Acquire: its turn has come ───────────────┐
//	  requested                                                          held ──▶ Release, the end
//	            └────────────── Next: the round is published ─────────────┘
//
// An access that has ended stays so: the plan has no other turn for it.

// turns is the plan in which the access has its turns, or nil: the access stands in a queue.
func (a *Access) turns() *planned {
	if t := a.task; t.step == nil && t.run != nil && !t.ended.Load() {
		return t.run.planned
	}
	return nil
}

// counter is the access's own in the plan.
func (a *Access) counter() int { return int(a.task.counter + a.number) }

// places are the access's own.
func (a *Access) places() []*queue.Place { return a.task.places[a.number:][:1] }

// acquire waits for the access.
func (a *Access) acquire(ctx context.Context) error {
	p, place := a.turns(), &a.place
	if p == nil || !place.Joined() || place.Held() {
		return a.place.Acquire(ctx) // by the queue; or it says what is wrong
	}
	if c := a.counter(); !p.pool.Ready(c) {
		if err := place.Waits(ctx); err != nil {
			return a.failed("acquire", err)
		}
		if !p.pool.Await(ctx, c) {
			if ctx.Err() == nil {
				ctx = p.run.ctx
			}
			return a.failed("acquire", queue.Reason(ctx))
		}
	}
	return queue.GrantAll(a.places())
}

// failed is the error of an operation of the access.
func (a *Access) failed(op string, err error) error {
	return &queue.PlaceError{Op: op, Mode: a.mode, Resource: a.resource.Name(), Err: err}
}

// next ends a turn, and announces the next one.
func (a *Access) next() error {
	if p := a.turns(); p != nil && a.place.Joined() && a.place.Held() {
		return p.publish(a, false)
	}
	return a.place.Renew()
}

// release ends the last turn.
func (a *Access) release() error {
	if p := a.turns(); p != nil && a.place.Joined() && a.place.Held() {
		return p.publish(a, true)
	}
	return a.place.Release()
}

// publish ends a turn.
func (p *planned) publish(a *Access, last bool) error {
	if p.across == nil {
		queue.EndAll(a.places(), last)
		p.ended(a, last)
		return nil
	}
	w := p.across.work()
	w.ends(&a.place)
	queue.EndAll(a.places(), last)
	err := p.tell(w, 0, a, last)
	p.ended(a, last)
	p.across.done(w)
	return err
}

// tell notes for other nodes that a turn has ended.
func (p *planned) tell(w *work, i int, a *Access, last bool) error {
	c := a.counter()
	round := p.pool.Round(c)
	return p.across.released(w, i, c, round, p.across.then(c, round, last))
}

// ended publishes a turn.
func (p *planned) ended(a *Access, last bool) {
	if last {
		p.end(a, true)
	} else {
		p.pool.Publish(a.counter())
	}
}

// end ends the turns of an access. held says that the last one is not published.
func (p *planned) end(a *Access, held bool) {
	c := a.counter()
	if x := p.across; x != nil && !held {
		w := x.work()
		x.part.Ends(c, x.then(c, p.pool.Round(c)-1, true), &w.Work)
		x.done(w)
	}
	if p.pool.End(c, held) {
		p.turns.Go(func() { p.pool.Turns(c) })
	}
}

// endRound ends a turn of all accesses of a task.
func (p *planned) endRound(t *Task, last bool) error {
	for _, a := range t.accesses {
		if !a.place.Joined() || !a.place.Held() {
			return a.failed("renew", queue.ErrNotHeld)
		}
	}
	if p.across == nil {
		queue.EndAll(t.places, last)
		for _, a := range t.accesses {
			p.ended(a, last)
		}
		return nil
	}
	w := p.across.work()
	for _, a := range t.accesses {
		w.ends(&a.place)
	}
	queue.EndAll(t.places, last)
	var err error
	for i, a := range t.accesses {
		err = errors.Join(err, p.tell(w, i, a, last))
		p.ended(a, last)
	}
	p.across.done(w)
	return err
}

// leave ends what a task has left when its body has ended well.
func (p *planned) leave(t *Task) {
	for _, a := range t.accesses {
		if a.place.Held() {
			_ = a.release()
		} else if a.place.Requested() {
			_ = a.cancel()
		}
	}
	if len(t.accesses) == 0 {
		p.pool.End(int(t.counter), false)
	}
}

// cancel ends the access without another round.
func (a *Access) cancel() error {
	p, joined := a.turns(), a.place.Joined()
	err := a.place.Cancel()
	if err == nil && p != nil && joined {
		p.end(a, false)
	}
	return err
}
