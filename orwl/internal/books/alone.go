package books

import (
	"context"

	"github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/orwl/internal/plan"
)

// A counter that stands alone has a book of its own. A goroutine of the caller is the only worker of this
// book, so it takes no lock:
//
//	Await ──▶ the round ──▶ Publish ──▶ Await ──▶ ... ──▶ End ──▶ Turns, if any are left
//
// One goroutine at a time uses a counter.

// alone is the book of a counter that stands alone.
func (p *Pool) alone(c int) *book { return p.books[p.where[c]] }

// Sleep has the goroutine of a counter sleep in a bed of the caller's, before it has waited.
func (p *Pool) Sleep(c int, in queue.Bed) { p.alone(c).sleepIn(in) }

func (b *book) sleepIn(bed queue.Bed) {
	b.bed = bed
	bed.Init(b.parked)
}

// Ready reports whether the next round of a counter may begin.
func (p *Pool) Ready(c int) bool {
	_, ok := p.met(uint32(c), p.alone(c).round[0])
	return ok
}

// Await waits until the next round of a counter may begin. It returns false if the context ends before, or if
// Stop was called.
func (p *Pool) Await(ctx context.Context, c int) bool {
	b := p.alone(c)
	for k := b.round[0]; ; {
		b.read()
		short, ok := p.met(uint32(c), k)
		if ok {
			return true
		}
		if p.isOver() || ctx.Err() != nil {
			return false
		}
		if e := &p.edges[short.edge]; !e.waits {
			e.waits = true
			p.store(&e.armed, 1)
			continue // look once more: the counter may have come meanwhile
		}
		b.sleep(ctx, 0)
	}
}

// Publish says that a round is done, and that others follow.
func (p *Pool) Publish(c int) {
	b := p.alone(c)
	k := b.round[0]
	b.round[0]++
	b.publish(uint32(c), k)
}

// End says that no round follows. held says that one was done and not published yet. End reports whether
// others rely on empty turns of the counter: then the caller has a goroutine call Turns.
func (p *Pool) End(c int, held bool) (turns bool) {
	b := p.alone(c)
	b.ended[0] = true
	b.own.alarm.Off()
	done := b.round[0]
	if !held {
		done--
	}
	turns = done < p.Plan.Turns(c)
	if !turns {
		b.publish(uint32(c), plan.Ended)
	} else if held {
		p.Publish(c)
	}
	p.ends()
	return turns
}

// Turns takes the empty turns of a counter that has ended.
func (p *Pool) Turns(c int) {
	for b := p.alone(c); p.Await(context.Background(), c); {
		last := b.round[0] >= p.Plan.Turns(c)
		if p.Turn != nil {
			p.Turn(c, b.round[0], last)
		}
		if last {
			b.publish(uint32(c), plan.Ended)
			return
		}
		p.Publish(c)
	}
}

// Done is what a counter has published.
func (p *Pool) Done(c int) uint32 { return p.counters[c].done.Load() }

// Round is the next round of a counter, from 1.
func (p *Pool) Round(c int) uint32 { return p.alone(c).round[0] }
