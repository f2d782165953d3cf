package sim

import (
	"iter"
	"runtime/debug"
)

// crew is what the runs of one exploration use one after the other: coroutines, which play the
// ranks, and memory. A coroutine that has played a rank has a stack of the right size for the next
// one. An exhaustive search takes 0.74 of the processor time with a crew. A nil crew makes everything
// anew.
type crew struct {
	idle []*player
	heap []uint64
}

// words are n words of memory, all zero. The run before does not use them any more.
func (c *crew) words(n int) []uint64 {
	if c == nil || len(c.heap) < n {
		heap := make([]uint64, n)
		if c != nil {
			c.heap = heap
		}
		return heap
	}
	heap := c.heap[:n:n]
	clear(heap)
	return heap
}

// player is a coroutine. It plays one rank until the rank's body ends, and waits for the next.
type player struct {
	rank   *rank
	yield  func(struct{}) bool     // to the scheduler
	resume func() (struct{}, bool) // from the scheduler
	stop   func()
}

// hire returns a player for a rank. The player does not run yet.
func (c *crew) hire(r *rank) *player {
	if c != nil && len(c.idle) > 0 {
		last := len(c.idle) - 1
		p := c.idle[last]
		c.idle = c.idle[:last]
		p.rank = r
		return p
	}
	p := &player{rank: r}
	p.resume, p.stop = iter.Pull(func(yield func(struct{}) bool) {
		p.yield = yield
		for p.play(); yield(struct{}{}); p.play() {
		}
	})
	return p
}

// dismiss takes back a player whose rank is not in its body.
func (c *crew) dismiss(p *player) {
	if p.rank = nil; c == nil {
		p.stop()
		return
	}
	c.idle = append(c.idle, p)
}

// end stops all players.
func (c *crew) end() {
	for _, p := range c.idle {
		p.stop()
	}
	c.idle = nil
}

// play runs the body of the rank.
func (p *player) play() {
	r := p.rank
	defer func() {
		switch value := recover().(type) {
		case nil:
		case halt:
			return
		default:
			r.err = &panicked{value, debug.Stack()}
		}
		r.phase = ended
	}()
	r.entered = true
	r.err = r.body(r.ctx, r.window)
}
