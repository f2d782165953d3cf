package meter

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/orwl/go-orwl/lab/epoch"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/rma/model"
	"github.com/orwl/go-orwl/net/topology"
)

// Meter measures the costs of a fabric's operations. All ranks call Measure
// together. Rank 0 does most of the work and gets the model.
type Meter struct {
	tree    *topology.Tree
	epochs  *epoch.Set
	scratch rma.Disp // bulkWords words
	ping    rma.Disp // one word
}

const (
	meterBatch   = 64   // operations between two readings of the clock
	meterTries   = 15   // batches, to take the median of
	meterHammer  = 1000 // operations of each rank on one word that all ranks change
	meterVolleys = 20   // round trips between two ranks that wait for each other
	wakeTries    = 101  // so many volleys, to take the median of
	longPause    = 100  // of a rank that offers its processor
	shortPause   = 50   // of a rank that does not
	bulkWords    = 4096 // words of a large bulk transfer

	// lines is how many words keep what a meter changes away from the cache lines that others
	// poll: ranks that wait at a fence are beside it.
	lines = 16
)

// New allocates the words that a measurement needs.
func New(f rma.Fabric) (*Meter, error) {
	m := &Meter{tree: f.Topology()}
	var err error
	if m.epochs, err = epoch.New(f, epoch.Options{Neighbours: 1}); err != nil {
		return nil, err
	}
	if m.scratch, err = f.Alloc(bulkWords + 3*lines); err != nil {
		return nil, err
	}
	m.scratch += lines
	m.ping = m.scratch + bulkWords + lines
	return m, nil
}

// Measure runs this rank's part of a measurement. All ranks call it. now is the
// caller's clock, because the simulator has its own. Rank 0 gets the model. Other
// ranks get a zero Model.
func (m *Meter) Measure(ctx context.Context, w rma.Window, now func() time.Duration) (model.Model, error) {
	r := &measurement{Meter: m, ctx: ctx, w: w, epoch: m.epochs.At(w), now: now}
	oneWay, far, err := r.oneWay() // first: ranks that have waited for long look less before they sleep
	if err != nil {
		return model.Model{}, err
	}
	found := model.Model{Source: "measured", Direct: r.instructions()}
	if found.Direct != nil {
		found.Own = &model.Own{Clock: r.median(func() { now() }), Pause: r.median(func() { w.Pause(1) }), Offer: r.median(func() { w.Pause(longPause) })}
	}
	for level := m.tree.Levels() + 1; level >= 1; level-- {
		if peer, ok := m.peer(level); ok {
			cost, err := r.level(level, peer)
			if err != nil {
				return model.Model{}, err
			}
			found.Levels = append(found.Levels, cost)
		}
	}
	if err := r.epoch.Fence(ctx); err != nil || w.Rank() != 0 {
		return model.Model{}, err
	}
	if far > 0 {
		found.Wake = wakeOf(oneWay, &found.Costs(r.tree)[far])
	}
	return found, nil
}

// peer is the first rank with this level as its finest element in common with
// rank 0.
func (m *Meter) peer(level int) (rma.Rank, bool) {
	for p := range rma.Rank(m.tree.Ranks()) {
		if m.tree.Common(0, p) == level {
			return p, true
		}
	}
	return 0, false
}

// measurement is one rank's part of a Measure.
type measurement struct {
	*Meter
	ctx   context.Context
	w     rma.Window
	epoch *epoch.Sync
	now   func() time.Duration
}

// level measures rank 0's operations on peer. Then it measures how fast all ranks
// at peer's distance together can change one word of rank 0.
func (r *measurement) level(level int, peer rma.Rank) (model.LevelCost, error) {
	cost := model.LevelCost{Level: model.Self}
	if level <= r.tree.Levels() {
		cost.Level = r.tree.LevelName(level)
	}
	if err := r.epoch.Fence(r.ctx); err != nil {
		return cost, fmt.Errorf("meter: measuring level %s: %w", cost.Level, err)
	}
	if r.w.Rank() == 0 {
		r.alone(&cost, peer)
	}
	if peer != 0 {
		if err := r.epoch.Fence(r.ctx); err != nil {
			return cost, fmt.Errorf("meter: measuring level %s: %w", cost.Level, err)
		}
		r.apart(&cost, peer)
	}
	busy, err := r.together(level)
	if err != nil {
		return cost, fmt.Errorf("meter: measuring level %s: %w", cost.Level, err)
	}
	if cost.Coherent {
		return cost, nil // apart knows what a line costs that ranks change in turn
	}
	cost.Atomic.Busy = min(busy, cost.Atomic.Alpha)
	cost.Put.Busy = min(busy, cost.Put.Alpha)
	cost.Get.Busy = min(busy, cost.Get.Alpha)
	return cost, nil
}

// alone measures rank 0's operations while no other rank is active.
func (r *measurement) alone(cost *model.LevelCost, peer rma.Rank) {
	word := make([]byte, 8)
	bulk := make([]byte, 8*bulkWords)
	extra := float64(len(bulk) - len(word))
	cost.Get.Alpha = r.median(func() { r.w.Get(peer, r.scratch) })
	cost.Atomic.Alpha = r.median(func() { r.w.FetchOp(peer, r.scratch, rma.Sum, 1) })
	cost.Put.Alpha = r.median(func() { r.w.Put(peer, r.scratch, 1); r.w.Flush(peer) })
	cost.Issue = min(cost.Put.Alpha, r.median(func() { r.w.Put(peer, r.scratch, 1) }))
	r.w.Flush(peer)
	if _, cost.Coherent = r.word(peer, r.scratch); cost.Coherent {
		cost.Issue = 0 // a Put is an instruction, and complete when it returns
	} else {
		cost.Put.Alpha = max(0, cost.Put.Alpha-cost.Issue)
	}
	slope := func(small, large func()) float64 {
		return max(0, (r.median(large)-r.median(small))/extra)
	}
	cost.Get.Beta = slope(
		func() { r.w.GetBytes(peer, r.scratch, word) },
		func() { r.w.GetBytes(peer, r.scratch, bulk) })
	cost.Put.Beta = slope(
		func() { r.w.PutBytes(peer, r.scratch, word); r.w.Flush(peer) },
		func() { r.w.PutBytes(peer, r.scratch, bulk); r.w.Flush(peer) })
}

// median is the median time of one operation, in nanoseconds.
func (r *measurement) median(operation func()) float64 {
	times := make([]float64, meterTries)
	for i := range times {
		begin := r.now()
		for range meterBatch {
			operation()
		}
		times[i] = float64(r.now()-begin) / meterBatch
	}
	slices.Sort(times)
	return times[meterTries/2]
}

// together is the time between two operations on one word of rank 0. Every rank at
// that distance issues operations as fast as it can and waits for none. So the word
// and the path to it are the limit, not the round trips of the ranks.
func (r *measurement) together(level int) (float64, error) {
	if err := r.epoch.Fence(r.ctx); err != nil {
		return 0, err
	}
	begin, ranks := r.now(), 0
	for p := range rma.Rank(r.tree.Ranks()) {
		if r.tree.Common(0, p) != level {
			continue
		}
		ranks++
		if p == r.w.Rank() {
			for range meterHammer {
				r.w.Accumulate(0, r.scratch, rma.Sum, 1)
			}
			r.w.Flush(0)
		}
	}
	if err := r.epoch.Fence(r.ctx); err != nil {
		return 0, err
	}
	if ranks < 2 {
		return 0, nil // no contention
	}
	return float64(r.now()-begin) / float64(ranks*meterHammer), nil
}

// oneWay measures the time from a rank's Put of another rank's word to the end of that rank's wait, and the level
// of the two; level 0 if there is one rank only.
func (r *measurement) oneWay() (took float64, level int, err error) {
	for p := range rma.Rank(r.tree.Ranks()) {
		if p > 0 {
			level = max(level, r.tree.Common(0, p))
		}
	}
	if err := r.epoch.Fence(r.ctx); err != nil || level == 0 {
		return 0, 0, err
	}
	near, _ := r.peer(level)
	times := make([]float64, wakeTries)
	for i := range times {
		begin := r.now()
		for k := range meterVolleys {
			if err := r.volley(near, 1+uint64(i*meterVolleys+k)); err != nil {
				return 0, 0, err
			}
		}
		times[i] = float64(r.now()-begin) / (2 * meterVolleys)
	}
	slices.Sort(times)
	return times[wakeTries/2], level, nil
}

// wakeOf is the time from a change of a rank's own word to the end of its wait.
func wakeOf(oneWay float64, cost *model.LevelCost) float64 {
	put := cost.Put.Alpha
	if cost.Shared.Alpha > 0 { // the rank that waits has looked at the word
		put = cost.Shared.Alpha
	}
	wake := max(0, oneWay-cost.Issue-put/2)
	if cost.Coherent { // two goroutines that have slept stay on one processor; a rank that looks fetches the line
		wake = max(wake, cost.Get.Alpha)
	}
	return wake
}

// volley is one round trip between rank 0 and its nearest neighbour.
func (r *measurement) volley(near rma.Rank, turn uint64) error {
	me := r.w.Rank()
	if me != 0 && me != near {
		return nil
	}
	other := near - me
	if me == 0 {
		r.w.Put(other, r.ping, turn)
	}
	if _, err := r.w.Await(r.ctx, me, r.ping, rma.Is(turn)); err != nil {
		return err
	}
	if me == near {
		r.w.Put(other, r.ping, turn)
	}
	return nil
}
