package meter

import (
	"slices"

	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/rma/model"
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
func (r *measurement) instructions() *model.Direct {
	word, ok := r.word(rma.Rank(r.tree.Ranks()-1), r.scratch)
	if !ok {
		return nil
	}
	if r.w.Rank() != 0 {
		return &model.Direct{}
	}
	return &model.Direct{
		Load:  r.median(func() { word.Load() }),
		Store: r.median(func() { word.Store(1) }),
		Swap:  r.median(func() { word.Swap(1) }),
	}
}

const (
	apartTurns = 1001 // of each of two ranks, to take the median of
	apartLooks = 4096 // at the word, before a rank pauses
)

// apart measures the costs of a coherent level: an operation on a line that the peer has changed or read
// last. The two ranks take turns. In each turn a rank makes one operation on the line and reads the clock
// before and behind it. It gives the turn to the other one by another line. While the line moves, it serves no
// other rank.
func (r *measurement) apart(cost *model.LevelCost, peer rma.Rank) {
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
	clock := r.median(func() { r.now() })
	put := func() { r.w.Put(0, r.scratch, 1) }
	atomic := func() { r.w.FetchOp(0, r.scratch, rma.Sum, 1) }
	get := func() { r.w.Get(0, r.scratch) }
	for _, one := range []struct {
		mine, peers func()
		cost        *model.Cost
		held        float64
	}{
		{put, atomic, &cost.Put, cost.Put.Alpha},
		{atomic, atomic, &cost.Atomic, cost.Atomic.Alpha},
		{get, atomic, &cost.Get, cost.Get.Alpha},
		{atomic, get, &cost.Shared, cost.Atomic.Alpha},
	} {
		operation := one.mine
		if me == peer {
			operation = one.peers
		}
		one.cost.Alpha = max(one.held, r.turns(word, &next, operation)-clock)
		one.cost.Busy = one.cost.Alpha - one.held
	}
}

// turns is how long an operation takes of a rank that takes turns with another one, with a reading of the clock.
func (r *measurement) turns(word rma.Word, next *uint64, operation func()) float64 {
	times := make([]float64, apartTurns)
	for i := range times {
		for looks := 1; word.Load() != *next; looks++ {
			if looks%apartLooks == 0 {
				r.w.Pause(1) // the peer may need this rank's processor
			}
		}
		begin := r.now()
		operation()
		times[i] = float64(r.now() - begin)
		word.Store(*next + 1)
		*next += 2
	}
	slices.Sort(times)
	return times[apartTurns/2]
}
