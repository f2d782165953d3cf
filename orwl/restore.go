package orwl

import (
	"context"

	"github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/orwl/internal/lives"
	"github.com/orwl/go-orwl/orwl/internal/message"
)

// A life begins from a cut: the nodes of the tasks get the records of these, and fill the resources. Each task begins with the round
// after the cut.
//
//	records of all tasks here ──▶ all tell who begins elsewhere ──▶ the resources are filled ──▶ all are ready

// restores gives restore the records that the life begins from, once, when all have come.
func (c *cuts) restores() {
	if c.restored == nil {
		return
	}
	if of, all := c.keeper.Restored(); all {
		c.restored <- of
		c.restored = nil
	}
}

// restore gives the tasks and resources their state in the cut that the life begins from. The resources have homes.
func (rt *Runtime) restore(ctx context.Context, c *cuts, restored <-chan map[int]lives.Record) error {
	if c.from == 0 {
		return nil
	}
	var of map[int]lives.Record
	select {
	case of = <-restored:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	mine := message.Starts{}
	for _, r := range of {
		if r.Rounds != c.from || r.Ended {
			mine.Add(r.Task, r.Rounds, r.Ended)
		}
	}
	all, err := gatherAll(ctx, rt, "restored", mine.Encode(), func(b []byte) (*message.Starts, error) { return message.ParseStarts(b, len(rt.tasks)) })
	if err != nil {
		return err
	}
	for _, t := range rt.tasks {
		t.step.starts(c.from, false)
	}
	for _, s := range all {
		for i, task := range s.Tasks {
			rt.tasks[task].step.starts(s.Rounds[i], s.Ended[i])
		}
	}
	for _, t := range c.tasks {
		r := of[c.number[t]]
		if r.Ended || t.idles() {
			c.ended[t] = r
		}
		t.round.Set(r.Rounds)
		for _, content := range r.Contents {
			if err := rt.refill(ctx, c, t, content); err != nil {
				return err
			}
		}
	}
	if err := rt.flushAll(ctx); err != nil {
		return err
	}
	_, err = rt.gather(ctx, "filled", nil)
	return err
}

// starts has a step begin after some rounds, or end there.
func (s *step) starts(rounds uint64, ended bool) {
	s.round = int(rounds)
	s.start.Store(int64(rounds)) // before Task.round: see did
	if ended {
		s.rounds = s.round
	}
}

// refill gives a resource what a task of this node wrote, if no other task has written it later.
func (rt *Runtime) refill(ctx context.Context, c *cuts, t *Task, content lives.Content) error {
	r := rt.resources[c.names[content.Resource]]
	best := t
	for _, a := range c.writers[r.Name()] {
		if a.task.step.start.Load() >= best.step.start.Load() {
			best = a.task
		}
	}
	if best != t {
		return nil
	}
	return queue.Section(ctx, r.Resource, queue.Write, func(p *queue.Place) error {
		if p.Size() != len(content.Bytes) {
			if err := p.Resize(len(content.Bytes)); err != nil {
				return err
			}
		}
		b, err := p.Writable()
		copy(b, content.Bytes)
		return err
	})
}
