package stencil

import (
	"sync/atomic"
	"time"

	"github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/orwl"
)

// Phase is what a block does at a time.
type Phase uint8

const (
	Outside   Phase = iota // before its first pass, and after its last
	Waiting                // for its neighbours, and then for a worker
	Importing              // copying what neighbours have exported
	Computing              // calling the kernel
	Exporting              // copying what neighbours will import
	Phases                 // how many there are
)

// Account is how a block has spent the time, and what it has imported.
type Account struct {
	// Spent is the time in each phase until Ended: when the last phase ended.
	Spent [Phases]time.Duration
	Ended time.Duration
	// Imports is how many faces of neighbours it has taken over, of so many bytes.
	Imports, Bytes int64
	// Early is how many of them were there when the block ended its piece before.
	Early int64
	// Hidden is for how long faces were on their way while the block did something else: from
	// when they were announced until they were there, or until the block began to wait. A face of
	// the same node is there when it is computed, one of another node when it has come.
	Hidden time.Duration
}

// Account is what the block of a number has done so far. It is for after the run, and for a block
// of this node if Options.Clock is set: otherwise it is zero.
func (g *Grid) Account(block int) Account { return g.tiles[block].watch.Account }

// Spent is how long this node's blocks were in each phase, all together, until now, or until all of them have
// ended. It may be called at any time, if Options.Live is set.
//
// A phase may have ended that the block has not told of yet. So the next call may return a bit less of it.
func (g *Grid) Spent() (sum [Phases]time.Duration) {
	var until [Phases]int64 // how many blocks are in each phase
	var begun [Phases]time.Duration
	now, ended := g.o.Clock(), time.Duration(0)
	going := false
	for _, t := range g.tiles {
		if t.node != g.rt.Node() {
			continue
		}
		spent, phase, at, over := t.watch.live.read()
		for p := range spent {
			sum[p] += spent[p]
		}
		until[phase]++
		begun[phase] += min(at, now) // it may have begun since the clock was read
		ended = max(ended, at)
		going = going || !over
	}
	if !going {
		now = ended
	}
	for p := range sum {
		sum[p] += time.Duration(until[p])*now - begun[p]
	}
	return sum
}

// watch belongs to the piece that runs.
type watch struct {
	Account
	phase Phase
	since time.Duration
	live  spending
}

// spending is an account that others read while it changes. They read again until all words are of one
// moment.
//
//	turn    how often it was changed, twice; odd while it is being changed
//	at      when the phase began, and which it is: Outside at first
type spending struct {
	turn  atomic.Uint64
	at    atomic.Uint64
	spent [Phases]atomic.Int64
}

const phaseBits = 3

// read returns the ended phases, the present one, when it began, and whether it is the last.
func (l *spending) read() (spent [Phases]time.Duration, phase Phase, at time.Duration, over bool) {
	for {
		turn, word := l.turn.Load(), l.at.Load()
		for p := range spent {
			spent[p] = time.Duration(l.spent[p].Load())
		}
		if turn&1 > 0 || l.turn.Load() != turn {
			continue // the task is about to store the next one
		}
		phase = Phase(word & (1<<phaseBits - 1))
		return spent, phase, time.Duration(word >> phaseBits), phase == Outside && turn > 0
	}
}

// enter ends a phase at a time, which makes so much of it, and begins another one.
func (l *spending) enter(ended Phase, spent time.Duration, begun Phase, at time.Duration) {
	l.turn.Add(1)
	l.spent[ended].Store(int64(spent))
	l.at.Store(uint64(at)<<phaseBits | uint64(begun))
	l.turn.Add(1)
}

// enter begins a phase.
func (p *piece) enter(phase Phase) {
	w, o := &p.watch, &p.grid.o
	if o.Clock == nil {
		return
	}
	now := o.Clock()
	w.Spent[w.phase] += now - w.since
	if o.Live {
		w.live.enter(w.phase, w.Spent[w.phase], phase, now)
	}
	w.phase, w.since, w.Ended = phase, now, now
	if o.Observe != nil {
		o.Observe(p.task, phase, now)
	}
}

// tell tells of a task that only exports.
func (t *tile) tell(task *orwl.Task, phase Phase) {
	if o := &t.grid.o; o.Observe != nil {
		o.Observe(task, phase, o.Clock())
	}
}

// arrival is when a face of another node has come last.
type arrival struct {
	clock func() time.Duration
	at    atomic.Int64
}

// Observe implements queue.Observer.
func (a *arrival) Observe(queue.Event) { a.at.Store(int64(a.clock())) }

// follow observes when what a piece imports from a direction comes, if another node sends it.
func (p *piece) follow(d direction, access *orwl.Access) *arrival {
	clock := p.grid.o.Clock
	n, _ := p.grid.neighbour(p.at, d)
	if clock == nil || p.node != p.grid.rt.Node() || p.grid.tileAt(n).node == p.node {
		return nil
	}
	far := &arrival{clock: clock}
	access.Place().Observe(far, queue.GrantedFar)
	return far
}

// imported counts an import. there is when it was computed, asked is when the block began to wait for it.
func (p *piece) imported(r *port, there, asked time.Duration) {
	if p.grid.o.Clock == nil {
		return
	}
	if r.far != nil {
		there = time.Duration(r.far.at.Load())
	}
	p.watch.count(r.exchange.layout.bytes, p.announced, there, asked)
}

func (a *Account) count(bytes int, announced, there, asked time.Duration) {
	a.Imports++
	a.Bytes += int64(bytes)
	if there <= asked {
		a.Early++
	}
	a.Hidden += max(0, min(asked, there)-announced)
}
