package lab

import (
	"context"
	"fmt"
	"time"

	"github.com/orwl/go-orwl/lab/epoch"
	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/topology"
)

// player is a rank in one repeat.
type player struct {
	*Program
	ctx    context.Context
	w      rma.Window
	clock  Clock
	probe  *Probe
	epoch  *epoch.Sync
	sides  []side
	levels levels
	random random
	below  uint64 // a number below it means that the rank writes
	strike int    // the next word of the increments
	// turn is the rank's next one of a recording, and turnWrites whether this one writes.
	turn       int
	turnWrites bool
	sample     Sample
}

// side is a rank's side of a lock, by what it can do.
type side struct {
	locks.Mutex
	rw  locks.RWMutex
	low locks.PriorityMutex
}

func sideOf(m locks.Mutex) side {
	s := side{Mutex: m}
	s.rw, _ = m.(locks.RWMutex)
	s.low, _ = m.(locks.PriorityMutex)
	return s
}

func newPlayer(ctx context.Context, p *Program, w rma.Window, clock Clock, probe *Probe) *player {
	r := &player{Program: p, ctx: ctx, w: w, clock: clock, probe: probe, epoch: p.epochs.At(w)}
	for _, at := range p.locks {
		r.sides = append(r.sides, sideOf(at(w)))
	}
	r.levels = levelsOf(p.tree, w.Rank())
	r.sample.From = make([]uint64, p.tree.Levels()+2)
	r.random.state = p.c.Seed<<16 + uint64(w.Rank())
	r.below = uint64(p.c.Writers * (1 << 32))
	return r
}

// levels are the elements that hold a rank, from the finest to the whole machine. The rank itself comes first.
type levels []struct{ first, end rma.Rank }

func levelsOf(t *topology.Tree, p rma.Rank) (all levels) {
	all = levels{{p, p + 1}}
	for i := t.Levels(); i > 0; i-- {
		first, n := t.Members(i, t.Element(p, i))
		all = append(all, levels{{first, first + rma.Rank(n)}}[0])
	}
	return all
}

// common is the finest level in common with rank q, as Tree.Common numbers it. A run of the benchmark asks for it in
// each turn, and a list of all ranks would not fit into memory where each of many ranks has one.
func (l levels) common(q rma.Rank) int {
	for i, in := range l {
		if in.first <= q && q < in.end {
			return len(l) - i
		}
	}
	return 1 // there is no such rank
}

// play is the benchmark, and then the run that counts.
func (r *player) play() error {
	if r.b.script != nil {
		return r.b.script(r)
	}
	if err := r.loop(); err != nil {
		return err
	}
	if r.counted == nil || r.sample.Repeat > 0 {
		return nil
	}
	return r.count()
}

// meet waits for all ranks.
func (r *player) meet() error {
	r.probe.phase.Set(phaseMeets)
	if err := r.epoch.Fence(r.ctx); err != nil {
		return fmt.Errorf("lab: rank %d waits for the others: %w", r.w.Rank(), err)
	}
	return nil
}

// writes draws whether the next acquisition writes.
func (r *player) writes(l *side) bool {
	if r.c.Recording != nil {
		return l.rw == nil || r.turnWrites
	}
	return l.rw == nil || r.random.next()>>32 < r.below
}

// acquire comes for the k-th lock.
func (r *player) acquire(k int, write bool) (changes uint64, err error) {
	l := &r.sides[k]
	r.probe.phase.Set(phaseAcquires)
	if write {
		err = l.Acquire(r.ctx)
	} else {
		err = l.rw.AcquireRead(r.ctx)
	}
	if err != nil {
		return 0, err
	}
	return r.entered(k, write)
}

// acquireLow is acquire with low priority, where the lock has priorities.
func (r *player) acquireLow(k int) (changes uint64, err error) {
	l := &r.sides[k]
	if l.low == nil {
		return r.acquire(k, true)
	}
	r.probe.phase.Set(phaseAcquires)
	if err := l.low.AcquireLow(r.ctx); err != nil {
		return 0, err
	}
	return r.entered(k, true)
}

func (r *player) entered(k int, write bool) (changes uint64, err error) {
	r.probe.phase.Set(phaseHolds)
	if r.witness == nil {
		return 0, nil
	}
	last, changes, err := r.witness.enter(k, r.w.Rank(), write)
	if write {
		level := 0
		if last >= 0 {
			level = r.levels.common(last)
		}
		r.sample.From[level]++
	}
	return changes, err
}

// release lets the k-th lock go.
func (r *player) release(k int, write bool, changes uint64) error {
	r.probe.phase.Set(phaseReleases)
	if r.witness != nil {
		if err := r.witness.leave(k, r.w.Rank(), write, changes); err != nil {
			return err
		}
	}
	if l := &r.sides[k]; write {
		l.Release()
	} else {
		l.rw.ReleaseRead()
	}
	r.probe.phase.Set(phaseOutside)
	return nil
}

// partner is the rank half of all ranks away.
func (r *player) partner() rma.Rank {
	n := rma.Rank(r.tree.Ranks())
	return (r.w.Rank() + n/2) % n
}

// work does w. Only a timed increment reads the clock. A rank that only reads the lock's data
// leaves out the writes.
func (r *player) work(w *Work, write, timed bool) {
	home := r.homes[0]
	for i := range w.Gets {
		r.w.Get(home, r.data+rma.Disp(i))
	}
	if w.Counter {
		r.touch(home, r.data, write)
	}
	for range w.Lines {
		r.touch(home, r.data+8*rma.Disp(r.random.next()%dataLines), write)
	}
	if n := r.random.from(w.Increments); n > 0 {
		r.strides(int(n), timed)
	}
	if ns := r.random.from(w.Spin); ns > 0 {
		r.clock.Compute(time.Duration(ns))
	}
}

// strides makes n increments at the partner, each of another word.
func (r *player) strides(n int, timed bool) {
	partner := r.partner()
	var begin time.Duration
	if timed {
		begin = r.clock.Now()
	}
	for range n {
		r.increment(partner, r.strips+rma.Disp(r.strike))
		r.w.Flush(partner)
		if r.strike++; r.strike == r.strip {
			r.strike = 0
		}
	}
	if timed {
		r.sample.Step.add((r.clock.Now() - begin) / time.Duration(n))
	}
}

// touch reads a word, and writes it if the rank may.
func (r *player) touch(target rma.Rank, disp rma.Disp, write bool) {
	if write {
		r.increment(target, disp)
	} else {
		r.w.Get(target, disp)
	}
}

// increment adds one to a word, not atomically.
func (r *player) increment(target rma.Rank, disp rma.Disp) {
	r.w.Put(target, disp, r.w.Get(target, disp)+1)
}
