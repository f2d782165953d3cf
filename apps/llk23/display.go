package main

import (
	"sync/atomic"
	"time"

	"github.com/orwl/go-orwl/orwl/stencil"
)

// display is what others see of a block's account while it runs. The task of the block shows it; a
// reader reads again until all words are of one moment.
//
//	turn    how often it was changed, twice; odd while it is being changed
//	at      when the phase began, and which it is: outside at first
type display struct {
	turn  atomic.Int64
	at    atomic.Int64
	spent [stencil.Phases]atomic.Int64
}

const phaseBits = 3

// show is called by the task of the block, when a phase has begun.
func (d *display) show(c stencil.Change) {
	d.turn.Add(1)
	for phase, spent := range c.Account.Spent {
		d.spent[phase].Store(int64(spent))
	}
	d.at.Store(int64(c.At)<<phaseBits | int64(c.Phase))
	d.turn.Add(1)
}

// read returns how long the block was in each phase so far, the present one included. A phase
// that is not shown yet may have ended a moment before now, so that the next reading may be
// that much less.
func (d *display) read(now func() time.Duration) (spent [stencil.Phases]time.Duration) {
	for {
		turn := d.turn.Load()
		at := d.at.Load()
		for p := range spent {
			spent[p] = time.Duration(d.spent[p].Load())
		}
		if turn&1 > 0 || d.turn.Load() != turn {
			continue // the task is just about to show the next one
		}
		spent[at&(1<<phaseBits-1)] += max(0, now()-time.Duration(at>>phaseBits))
		return spent
	}
}
