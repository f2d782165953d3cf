package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/orwl/go-orwl/apps/dht/volume"
	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/topology"
)

// contest is the paper's benchmark (HPDC'16, §5.3): rank 0 keeps a volume, and
// every other rank looks up elements of it and inserts some. It is what processes
// tell each other, too.
type contest struct {
	Topology   string
	Discipline string
	Writes     float64 // percent
	Operations int     // of each rank
	Elements   int     // the elements in the beginning
	Buckets    int
	Heap       int // the number of its cells; a negative one stands for enough
	Lock       locks.Options
	Seed       uint64
}

// owner is the rank that keeps the volume, and does nothing else.
const owner = rma.Rank(0)

// outcome is what came of a contest.
type outcome struct {
	took    time.Duration
	inserts int // done
	refused int // inserts for which there was no room
}

// arena is a contest on a fabric: the volume, and the words at the owner by which
// the ranks begin and end together.
type arena struct {
	contest
	ranks  int
	volume *volume.Volume
	words  rma.Disp
}

// The words of an arena.
const (
	atReady = iota // ranks that are ready
	atGo           // 1 when all are
	atDone         // ranks that have ended
	atInserts
	atRefused
	atMissed // look-ups that found nothing or something else: must be none
	arenaWords
)

// on prepares the contest on a fabric: an allocation, the same for every process.
func (c contest) on(f rma.Fabric) (*arena, error) {
	a := &arena{contest: c, ranks: f.Topology().Ranks()}
	var err error
	if a.words, err = f.Alloc(arenaWords); err != nil {
		return nil, err
	}
	spec, _ := locks.ByName(c.Discipline)
	a.volume, err = volume.New(f, volume.Options{
		Layout: c.layout(a.ranks), Owner: owner, Discipline: c.Discipline,
		Lock: heeded(spec, c.Lock), Fill: c.fill,
	})
	return a, err
}

// layout has room for all inserts, however they fall, unless a heap was asked for.
func (c contest) layout(ranks int) volume.Layout {
	l := volume.Layout{Buckets: c.Buckets, Heap: c.Heap}
	if c.Heap < 0 {
		l.Heap = c.Elements
		for p := 1; p < ranks; p++ {
			player := c.player(rma.Rank(p))
			for range c.Operations {
				if player.writes() {
					l.Heap++
				}
			}
		}
	}
	return l
}

// words is the dynamic memory that the owner needs.
func (c contest) words(tree *topology.Tree) int { return c.layout(tree.Ranks()).Words() }

// fill puts in the elements that are there from the beginning.
func (c contest) fill(t *volume.Table) error {
	for i := range uint64(c.Elements) {
		if err := t.InsertNew(keyOf(0, i), i); err != nil {
			return err
		}
	}
	return nil
}

// keyOf is the key of the i-th element that a rank inserts; the owner's are those
// from the beginning. Keys are random to look at, and none is there twice.
func keyOf(p rma.Rank, i uint64) uint64 { return volume.Mix(uint64(p)<<40 | i) }

// player draws what a rank does.
type player struct {
	rng   *rand.Rand
	below float64
}

func (c contest) player(p rma.Rank) player {
	return player{rand.New(rand.NewPCG(c.Seed, uint64(p))), c.Writes / 100}
}

func (p player) writes() bool { return p.rng.Float64() < p.below }

// play is a rank's part. Clock is asked by the owner alone; its outcome counts.
func (a *arena) play(ctx context.Context, w rma.Window, clock func() time.Duration) (outcome, error) {
	s, err := a.volume.At(ctx, w)
	if err != nil {
		return outcome{}, err
	}
	if w.Rank() == owner {
		return a.referee(ctx, w, clock)
	}
	w.Accumulate(owner, a.words+atReady, rma.Sum, 1)
	w.Flush(owner)
	if _, err := w.Await(ctx, owner, a.words+atGo, rma.Is(1)); err != nil {
		return outcome{}, err
	}
	if err := a.compete(ctx, w, s); err != nil {
		return outcome{}, err
	}
	w.Accumulate(owner, a.words+atDone, rma.Sum, 1)
	w.Flush(owner)
	return outcome{}, w.Err()
}

// compete is what is measured.
func (a *arena) compete(ctx context.Context, w rma.Window, s volume.Side) error {
	var inserts, refused, missed uint64
	draws, element := a.player(w.Rank()), rand.New(rand.NewPCG(a.Seed+1, uint64(w.Rank())))
	for range a.Operations {
		if draws.writes() {
			err := s.InsertNew(ctx, keyOf(w.Rank(), inserts+refused), uint64(w.Rank()))
			switch {
			case errors.Is(err, volume.ErrFull):
				refused++
			case err != nil:
				return err
			default:
				inserts++
			}
			continue
		}
		i := element.Uint64N(uint64(a.Elements))
		v, found, err := s.Get(ctx, keyOf(0, i))
		if err != nil {
			return err
		}
		if !found || v != i {
			missed++
		}
	}
	for at, n := range map[rma.Disp]uint64{atInserts: inserts, atRefused: refused, atMissed: missed} {
		if n > 0 {
			w.Accumulate(owner, a.words+at, rma.Sum, n)
		}
	}
	w.Flush(owner)
	return nil
}

// referee lets all begin at once, and measures until the last one ends.
func (a *arena) referee(ctx context.Context, w rma.Window, clock func() time.Duration) (outcome, error) {
	others := uint64(a.ranks - 1)
	if _, err := w.Await(ctx, owner, a.words+atReady, rma.Is(others)); err != nil {
		return outcome{}, err
	}
	begin := clock()
	w.FetchOp(owner, a.words+atGo, rma.Replace, 1)
	if _, err := w.Await(ctx, owner, a.words+atDone, rma.Is(others)); err != nil {
		return outcome{}, err
	}
	o := outcome{
		took:    clock() - begin,
		inserts: int(w.Get(owner, a.words+atInserts)), refused: int(w.Get(owner, a.words+atRefused)),
	}
	if missed := w.Get(owner, a.words+atMissed); missed > 0 {
		return o, fmt.Errorf("%s: %d look-ups of elements that are there found nothing or another value: this is a defect", a.Discipline, missed)
	}
	return o, w.Err()
}

// heeded is the options that a lock has, of those that were given for all.
func heeded(spec locks.Spec, o locks.Options) locks.Options {
	given := map[string]bool{}
	for _, name := range spec.Options {
		given[name] = true
	}
	if !given["TL"] {
		o.TL = nil
	}
	if !given["TDC"] {
		o.TDC = 0
	}
	if !given["TR"] {
		o.TR = 0
	}
	return o
}
