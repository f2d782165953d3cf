package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"time"

	"github.com/orwl/go-orwl/apps/dht/volume"
	"github.com/orwl/go-orwl/internal/crew"
	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/net/mem"
	"github.com/orwl/go-orwl/net/p2p"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/rma/model"
	"github.com/orwl/go-orwl/net/shm"
	"github.com/orwl/go-orwl/net/sim"
	"github.com/orwl/go-orwl/net/topology"
	"github.com/orwl/go-orwl/orwl/launch"
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

// envBench is what a process that dht bench has started is to do, as JSON.
const envBench = "ORWL_DHT_BENCH"

// fabricFD is the first of exec.Cmd.ExtraFiles in the started process.
const fabricFD = 3

// errand is what a started process is to do.
type errand struct {
	Contest contest
	Number  int    // of the process
	Nodes   int    // processes of a run of nodes; 0 for ranks in shared memory
	Root    string // where node 0 listens
	Key     string
}

// benchProcess reports whether this process is one that dht bench has started, and
// if so does its part. The program asks it before it looks at its command line.
func benchProcess() (bool, error) {
	text, started := os.LookupEnv(envBench)
	if !started {
		return false, nil
	}
	var e errand
	if err := json.Unmarshal([]byte(text), &e); err != nil {
		return true, fmt.Errorf("%s: %w", envBench, err)
	}
	tree, err := topology.Parse(e.Contest.Topology)
	if err != nil {
		return true, fmt.Errorf("%s: %w", envBench, err)
	}
	ctx := context.Background()
	if e.Nodes > 0 {
		_, err = e.onNode(ctx, tree, nil)
		return true, err
	}
	f, err := shm.Open(os.NewFile(fabricFD, "fabric"), e.sharing(tree))
	if err != nil {
		return true, err
	}
	defer f.Close()
	_, err = hold(ctx, e.Contest, f, e.hasRank)
	return true, err
}

// hasRank says which rank is this process's, in shared memory.
func (e errand) hasRank(p rma.Rank) bool { return int(p) == e.Number }

func (e errand) sharing(tree *topology.Tree) shm.Options {
	return shm.Options{Topology: tree, DynamicWords: e.Contest.words(tree) + sharedSpare}
}

// sharedSpare is what shared memory needs to keep order among a rank's regions.
const sharedSpare = 1 << 12

// onShm holds a contest between processes that share memory, one for each rank;
// this one is rank 0.
func onShm(ctx context.Context, c contest, tree *topology.Tree) (outcome, error) {
	e := errand{Contest: c}
	f, err := shm.Create(e.sharing(tree))
	if err != nil {
		return outcome{}, err
	}
	defer f.Close()
	var others crew.Crew
	defer others.Dismiss()
	for p := 1; p < tree.Ranks(); p++ {
		e.Number = p
		if err := e.hire(&others, f.File()); err != nil {
			return outcome{}, err
		}
	}
	e.Number = 0
	o, err := hold(ctx, c, f, e.hasRank)
	if err != nil {
		return o, err
	}
	return o, others.Wait()
}

// onP2P holds a contest between nodes, as if each were on a machine of its own: all
// that is not a rank's own memory goes through frames. This process is node 0, which
// has rank 0 and no other.
func onP2P(ctx context.Context, c contest, tree *topology.Tree, nodes int) (outcome, error) {
	e := errand{Contest: c, Nodes: nodes, Key: string(launch.NewKey())}
	var others crew.Crew
	defer others.Dismiss()
	var hiring error
	o, err := e.onNode(ctx, tree, func(root string) {
		for n := 1; n < nodes && hiring == nil; n++ {
			other := e
			other.Number, other.Root = n, root
			hiring = other.hire(&others)
		}
	})
	if hiring != nil {
		return o, hiring
	}
	if err != nil {
		return o, err
	}
	return o, others.Wait()
}

// onNode is one node's part.
func (e errand) onNode(ctx context.Context, tree *topology.Tree, listening func(root string)) (outcome, error) {
	n, err := p2p.Join(ctx, p2p.Options{
		Number: e.Number, Nodes: e.Nodes, Root: e.Root, Key: []byte(e.Key), Listening: listening, Remote: true,
	})
	if err != nil {
		return outcome{}, err
	}
	defer n.Close(context.WithoutCancel(ctx))
	f, err := n.Fabric(ctx, p2p.FabricOptions{Topology: tree, Context: ctx, Remote: true, Node: e.nodeOf})
	if err != nil {
		return outcome{}, err
	}
	o, err := hold(ctx, e.Contest, f, func(p rma.Rank) bool { return e.nodeOf(p) == e.Number })
	if err != nil {
		return o, err
	}
	_, err = n.Gather(ctx, "end", nil) // until then its memory is in use
	return o, err
}

// nodeOf is where a rank lives: the owner on node 0, the others in turn on the
// other nodes, so that every access crosses a connection.
func (e errand) nodeOf(p rma.Rank) int {
	if p == owner {
		return 0
	}
	return 1 + (int(p)-1)%(e.Nodes-1)
}

// hire starts a process for the errand, with a file if there is one.
func (e errand) hire(others *crew.Crew, files ...*os.File) error {
	text, err := json.Marshal(e)
	if err != nil {
		return err
	}
	return others.Hire([]string{envBench + "=" + string(text)}, files...)
}

// onMem holds a contest between goroutines.
func onMem(ctx context.Context, c contest, tree *topology.Tree) (outcome, error) {
	f, err := mem.New(mem.Options{Topology: tree, Context: ctx})
	if err != nil {
		return outcome{}, err
	}
	defer f.Close()
	return hold(ctx, c, f, func(rma.Rank) bool { return true })
}

// hold is this process's part in a contest: the part of the ranks that live here.
func hold(ctx context.Context, c contest, f rma.Fabric, here func(p rma.Rank) bool) (outcome, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	a, err := c.on(f)
	if err != nil {
		return outcome{}, err
	}
	begin := time.Now()
	clock := func() time.Duration { return time.Since(begin) }
	var all sync.WaitGroup
	var owners outcome
	errs := make([]error, a.ranks)
	for p := range rma.Rank(a.ranks) {
		if !here(p) {
			continue
		}
		w, err := f.Window(p)
		if err != nil {
			return outcome{}, err
		}
		all.Go(func() {
			o, err := a.play(ctx, w, clock)
			if p == owner {
				owners = o
			}
			if errs[p] = err; err != nil {
				cancel() // the others wait for this rank for ever
			}
		})
	}
	all.Wait()
	return owners, first(errs)
}

// first is the error that came first, if it can be told: not what it has cancelled.
func first(errs []error) error {
	var cancelled error
	for _, err := range errs {
		if errors.Is(err, context.Canceled) {
			cancelled = err
		} else if err != nil {
			return err
		}
	}
	return cancelled
}

// simWords is enough for a lock of a few thousand ranks.
const simWords = 1 << 12

// onSim predicts a contest on a described machine. It subtracts the time of a contest without
// operations: the ranks need that time to begin, and to find out that all have ended.
func onSim(c contest, tree *topology.Tree, machine model.Model) (outcome, error) {
	none := c
	none.Operations = 0
	before, _, err := predict(none, tree, machine)
	if err != nil {
		return outcome{}, err
	}
	all, o, err := predict(c, tree, machine)
	o.took = all - before
	return o, err
}

func predict(c contest, tree *topology.Tree, machine model.Model) (time.Duration, outcome, error) {
	var result outcome
	p := sim.System{Topology: tree, Words: simWords, Setup: func(f *sim.Fabric) (sim.Program, error) {
		a, err := c.on(f)
		return sim.Program{Rank: func(ctx context.Context, w rma.Window) error {
			o, err := a.play(ctx, w, func() time.Duration { return 0 })
			if w.Rank() == owner {
				result = o
			}
			return err
		}}, err
	}}.Predict(machine, c.Seed)
	if p.Failure != nil {
		return 0, result, fmt.Errorf("%s on %s: %w", c.Discipline, machine.Name, p.Failure.Err)
	}
	return p.Time, result, nil
}
