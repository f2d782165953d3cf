package model

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/orwl/go-orwl/net/rma"
)

// Where ranks share memory, an operation costs little as long as the rank has the word's
// cache line, and much if another rank has changed it. alone measures the former, apart
// the latter.

// word is a word that the rank reaches by instructions, if it does.
func (r *measurement) word(target rma.Rank, disp rma.Disp) (rma.Word, bool) {
	if direct, ok := r.w.(rma.Shared); ok {
		return direct.Direct(target, disp)
	}
	return rma.Word{}, false
}

// instructions measures rank 0's instructions on a line that it has.
func (r *measurement) instructions() *Direct {
	word, ok := r.word(rma.Rank(r.tree.Ranks()-1), r.scratch)
	if !ok {
		return nil
	}
	if r.w.Rank() != 0 {
		return &Direct{}
	}
	return &Direct{
		Load:  r.median(func() { word.Load() }),
		Store: r.median(func() { word.Store(1) }),
		Swap:  r.median(func() { word.Swap(1) }),
	}
}

const (
	apartRounds = 64   // of two ranks that take turns
	apartTries  = 15   // of so many rounds, to take the median of
	apartLooks  = 4096 // at the word, before a rank pauses
)

// apart measures the costs of a coherent level: an operation on a line that the peer has
// changed last. The two ranks take turns. In each turn a rank makes one operation on the
// line, and then gives the turn to the other one by another line. The time of such turns
// without the operation is subtracted. While the line moves, it serves no other rank.
func (r *measurement) apart(cost *LevelCost, peer rma.Rank) {
	me := r.w.Rank()
	if me != 0 && me != peer {
		return
	}
	if _, ok := r.word(peer-me, r.ping); !ok {
		return // neither rank reaches the other's memory
	}
	word, _ := r.word(0, r.ping)
	next := uint64(0) // my next turn
	if me == peer {
		next = 1
	} else {
		word.Store(0)
	}
	put := func() { r.w.Put(0, r.scratch, 1) }
	atomic := func() { r.w.FetchOp(0, r.scratch, rma.Sum, 1) }
	get := func() { r.w.Get(0, r.scratch) }
	if me == peer {
		get = atomic // rank 0 finds the line changed
	}
	turn := r.turns(word, &next, func() {})
	putTurn, atomicTurn, getTurn := r.turns(word, &next, put), r.turns(word, &next, atomic), r.turns(word, &next, get)
	moves := func(c *Cost, took float64) {
		held := c.Alpha // as measured alone
		c.Alpha = max(held, took)
		c.Busy = c.Alpha - held
	}
	moves(&cost.Put, putTurn-turn)
	moves(&cost.Atomic, atomicTurn-turn)
	moves(&cost.Get, 2*getTurn-turn-atomicTurn) // half of these turns were the peer's atomics
}

// turns is how long a turn of two ranks takes, with an operation in it.
func (r *measurement) turns(word rma.Word, next *uint64, operation func()) float64 {
	times := make([]float64, apartTries)
	for i := range times {
		begin := r.now()
		for range apartRounds {
			for looks := 1; word.Load() != *next; looks++ {
				if looks%apartLooks == 0 {
					r.w.Pause(1) // the peer may need this rank's processor
				}
			}
			operation()
			word.Store(*next + 1)
			*next += 2
		}
		times[i] = float64(r.now()-begin) / (2 * apartRounds)
	}
	slices.Sort(times)
	return times[apartTries/2]
}

// Crowd measures what a hand-over to a rank that sleeps costs: a token goes round all ranks,
// which outnumber the processors. All ranks call it. Rank 0 gets the time of one hop.
func (m *Meter) Crowd(ctx context.Context, w rma.Window, now func() time.Duration) (float64, error) {
	const rounds = 50
	r := &measurement{Meter: m, ctx: ctx, w: w, epoch: m.epochs.At(w), now: now}
	n := rma.Rank(m.tree.Ranks())
	me, next := w.Rank(), (w.Rank()+1)%n
	best := math.Inf(1)
	for try := range uint64(5) {
		if err := r.epoch.Fence(ctx); err != nil {
			return 0, err
		}
		begin := now()
		for i := range uint64(rounds) {
			turn := 2 + try*rounds + i // 0 and 1 were the first words
			if me == 0 {
				w.Put(next, m.ping, turn)
			}
			if _, err := w.Await(ctx, me, m.ping, rma.Is(turn)); err != nil {
				return 0, err
			}
			if me != 0 {
				w.Put(next, m.ping, turn)
			}
		}
		best = min(best, float64(now()-begin)/float64(rounds*int(n)))
	}
	return best, r.epoch.Fence(ctx)
}
