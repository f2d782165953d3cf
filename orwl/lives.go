package orwl

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"math/rand/v2"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/net/node"
	"github.com/orwl/go-orwl/orwl/internal/balance"
	"github.com/orwl/go-orwl/orwl/internal/folder"
	"github.com/orwl/go-orwl/orwl/internal/lives"
	"github.com/orwl/go-orwl/orwl/internal/message"
)

// A run is a sequence of lives. [Run] calls the program once in each life. A life ends when a node is lost, comes or leaves, or to balance the work. The
// next life begins from the last cut, on the nodes that are there:
//
//	program ──▶ ended ──▶ meet: all tell how it ended, and what they keep ──▶ next, follow ──▶ program
//
// The program declares the same in each life. Run gives the resources the contents that they have in the cut. Each task begins with the round
// after the cut.

// Survive says how a run goes on when a node is lost. By default it does if it can: see [Run].
type Survive struct {
	// Off: the run has one life. The loss of a node ends it, and SIGTERM the process.
	Off bool
	// Interval is the shortest time between two cuts: 250 ms by default, or as much as keeps their cost below 3 % of
	// the time. A run has a cut at its end, too, if it took that long: by default, 16 ms, or more if the cut is large.
	Interval time.Duration
	// Folder keeps the cuts on disk, too: ORWL_SURVIVE by default, none if that is not set. When all processes are gone, the same command with the
	// same arguments goes on from there, on as many nodes as it likes. All nodes share the folder, or each machine has one of that name. A run that ends
	// well leaves none of its cuts there.
	Folder string
}

// survival is what a process keeps through the lives of its run.
type survival struct {
	keeper  *lives.Keeper
	life    uint64
	reports []lives.Report // of its nodes, about the cuts that it begins from
	made    bool           // it has made a cut
	kept    int64          // how many bytes the cuts at the ends of its runs have
	ends    int            // if there is a seed, the life ends after so many cuts
	barren  int            // how many lives in a row have made no cut
	since   time.Time      // when the last life ended, or the first one began to prepare
	price   time.Duration  // the cost of another life: the time from since until the workers began
	tries   int            // the chair has it from balance.Watch
	mortal  error          // why no life follows this one
	hash    maphash.Seed
	items   map[int][]uint64 // by run of the runtime: hashes of what the first life declared

	log    lifeLog        // of all lives, for the page and for metrics
	folder *folder.Folder // nil: the cuts are not on disk
	base   uint64         // the life of a cut has its number, plus base: see openFolder
	origin int            // how many processors the program is told of, in all lives; 0 before the first one
	seed   uint64         // ORWL_LIVES: lives end at random cuts; 0: they do not

	leaves atomic.Bool // this process was asked to leave the run
	cuts   atomic.Bool // a cut can hold the state of this process, so it waits for one before it leaves
}

// mostBarren is how many lives in a row make no cut until the run ends: a program that always fails does not go on for ever.
const mostBarren = 3

// errLifeOver ends the life of a run: a node wanted that, and a cut is whole. errAllLeave ends the run: all nodes
// were asked to leave it. A process that comes when the run is over ends with errBehind.
var (
	errLifeOver = errors.New("orwl: this life of the run is over")
	errAllLeave = errors.New("orwl: all nodes of the run were asked to end")
	errBehind   = errors.New("orwl: the others have ended the run without this node, which was apart from them or has come late: their reports have the result")
)

// errMortal is what keeps a run from going on after the loss of a node.
var errMortal = errors.New("orwl: the loss of a node ends this run")

// livesVariable is the seed of random lives. With it, a run ends its lives at random cuts, and numbers its nodes anew in each. The processes stay.
// If the run ends with another result, the program has state that is in no cut.
const livesVariable = "ORWL_LIVES"

// newSurvival is nil if the run has one life: o says so, or the process is alone and has neither a folder nor a seed.
func newSurvival(o Options, alone bool) (*survival, error) {
	var seed uint64
	if text := os.Getenv(livesVariable); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil || seed == 0 {
			return nil, fmt.Errorf("orwl: %s is %q: want a number from 1 on", livesVariable, text)
		}
	}
	disk, origin := o.folder(), 0
	if o.Survive.Off || alone && seed == 0 && disk == nil {
		return nil, nil
	}
	if disk != nil {
		origin = folder.Processors(disk)
	}
	return &survival{seed: seed, origin: origin, keeper: lives.NewKeeper(), hash: maphash.MakeSeed(), items: make(map[int][]uint64)}, nil
}

// survive prepares the cuts of a run, if the process has lives and the program can go on without a node. It is called before the nodes
// agree that all have declared the program: then another node may send a message about a cut.
func (rt *Runtime) survive(r *run) error {
	n := rt.o.Nodes
	if n == nil || n.survival == nil {
		return nil
	}
	s := n.survival
	if s.mortal = rt.mortal(); s.mortal != nil {
		s.log.isLast(s.mortal)
		rt.o.Log.Debug("orwl: no other life follows this one", "why", s.mortal)
		return nil
	}
	if err := s.same(rt); err != nil {
		return err
	}
	n.outlive()
	if n.network != nil {
		n.network.LetIn()
	}
	r.cuts = newCuts(rt, s)
	n.cuts.Store(r.cuts)
	s.cuts.Store(true)
	return nil
}

// mortal is why the program cannot go on without a node, or nil.
func (rt *Runtime) mortal() error {
	for _, t := range rt.tasks {
		if t.step == nil {
			return fmt.Errorf("%w: the body of task %q is one of Do, whose state no cut has: use Each", errMortal, t.name)
		}
	}
	return nil
}

// same compares the program of a run with the program that the first life declared.
func (s *survival) same(rt *Runtime) error {
	before, known := s.items[rt.runs]
	var items []uint64
	for item := range rt.declarations {
		h := maphash.Comparable(s.hash, item)
		if i := len(items); known && (i >= len(before) || before[i] != h) {
			return fmt.Errorf("orwl: life %d of the run has declared another program than the first one: the difference begins with %v: "+
				"declare the same, whatever the nodes are", s.life, item)
		}
		items = append(items, h)
	}
	if known && len(items) < len(before) {
		return fmt.Errorf("orwl: life %d of the run has declared less than the first one: declare the same, whatever the nodes are", s.life)
	}
	s.items[rt.runs] = items
	return nil
}

// ended is what this node tells the others when a life has ended with err, or when it has come to the run.
func (n *Nodes) ended(ctx context.Context, err error) message.Life {
	s := n.survival
	s.since = time.Now()
	l := message.Life{Number: s.life, Base: s.base, Processors: s.origin, Node: n.Number(), Leaves: s.leaves.Load(), Barren: mostBarren, Outcome: message.Came}
	if s.life == 0 {
		return l
	}
	l.Weight = n.weighs()[n.Number()]
	if n.nextWeights != nil {
		l.Weight = n.nextWeights[n.Number()]
	}
	if n.Number() == 0 {
		l.Tries = s.tries
	}
	s.keeper.End()
	s.log.ends(n.reason.Why())
	if bad := s.looks(); err == nil {
		err = bad
	}
	lost, why := (*NodeError)(nil), n.reason.Why()
	switch {
	case s.made:
		s.barren = 0
	case !errors.Is(why, errLifeOver): // a life that ends as planned may have made no cut
		s.barren++
	}
	l.Barren, l.Outcome, l.Kept = s.barren, message.Done, s.keeper.Report()
	switch {
	case err == nil:
	case ctx.Err() == nil && errors.Is(why, errLifeOver):
		l.Outcome = message.Over
	case ctx.Err() != nil || !n.isApart() && !(errors.As(why, &lost) && lost.Lost || errors.As(err, &lost) && lost.Lost):
		l.Outcome, l.Text = message.Failed, err.Error()
		if errors.As(err, &lost) {
			l.Node, l.Text = lost.Node, lost.Text
		}
	case s.mortal != nil:
		l.Outcome, l.Text = message.Mortal, s.mortal.Error()
	default:
		l.Outcome = message.Lost
	}
	return l
}

// isApart reports whether this node must not go on as it is.
func (n *Nodes) isApart() bool { return n.network != nil && n.network.Apart() != nil }

// seat is the number of this process in all lives.
func (n *Nodes) seat() int {
	if n.network == nil {
		return 0
	}
	return n.network.Number()
}

// random is a source of random numbers, the same on all nodes of a life.
func (s *survival) random() *rand.Rand { return rand.New(rand.NewPCG(s.seed, s.life)) }

// meet tells the others how the life has ended here, and returns what all say, by seat. If this node is apart from them, it
// comes again: to the nodes that go on, or to others that are apart.
func (n *Nodes) meet(ctx context.Context, l message.Life) ([][]byte, error) {
	if n.network == nil {
		return [][]byte{l.Encode()}, nil
	}
	for {
		l.Among = n.network.Incarnation()
		texts, err := n.network.Gather(ctx, "life", l.Encode())
		if err == nil || !n.isApart() || ctx.Err() != nil || l.Outcome == message.Failed || l.Outcome == message.Mortal {
			return texts, err
		}
		n.log.Info("orwl: this node comes again", "node", n.network.Number(), "why", err)
		again, bad := n.network.Again(ctx)
		if errors.Is(bad, node.ErrLeft) {
			bad = errors.Join(errBehind, bad)
		}
		if bad != nil {
			return nil, errors.Join(err, bad)
		}
		n.network, n.again = again, true
	}
}

// next chooses the life after one that has ended with err, or the first one that this process is in. If more is
// false, there is none, and the error is how the run has ended.
func (n *Nodes) next(ctx context.Context, err error) (next *Nodes, more bool, _ error) {
	s := n.survival
	own := s.life
	texts, unmet := n.meet(ctx, n.ended(ctx, err))
	if unmet != nil {
		return n, false, errors.Join(err, unmet)
	}
	var seats []int
	var reports []lives.Report
	var leaves []bool
	among, weights := make([]uint64, len(texts)), make([]int, len(texts))
	tries := 0
	barren, came, goesOn := mostBarren, true, false
	for seat, text := range texts {
		if text == nil {
			continue
		}
		l, bad := message.ParseLife(text)
		if bad != nil {
			return n, false, errors.Join(err, bad)
		}
		switch l.Outcome {
		case message.Failed, message.Mortal:
			if err == nil {
				err = &NodeError{Node: l.Node, Text: l.Text, Lost: l.Outcome == message.Mortal}
			} else if l.Outcome == message.Mortal {
				err = errors.Join(err, s.mortal)
			}
			return n, false, err
		case message.Lost, message.Over:
			goesOn = true
		}
		came = came && l.Outcome == message.Came
		seats, among[seat], weights[seat], tries = append(seats, seat), l.Among, l.Weight, max(tries, l.Tries)
		s.life, s.base, s.origin = max(s.life, l.Number), max(s.base, l.Base), max(s.origin, l.Processors)
		reports, leaves, barren = append(reports, l.Kept), append(leaves, l.Leaves), min(barren, l.Barren)
	}
	switch {
	case !goesOn && !came:
		return n, false, err
	case s.life == own && n.wasLeft(texts):
		return n, false, errors.Join(err, errBehind)
	case goesOn && barren >= mostBarren:
		return n, false, errors.Join(err, fmt.Errorf("orwl: %d lives in a row have ended before they made a cut", mostBarren))
	}
	stay := lives.Stay(reports, leaves)
	if len(stay) == 0 {
		return n, false, errAllLeave
	}
	if s.seed != 0 {
		s.random().Shuffle(len(stay), func(i, j int) { stay[i], stay[j] = stay[j], stay[i] })
	}
	var in []int
	var kept []lives.Report
	for _, i := range stay {
		in, kept = append(in, seats[i]), append(kept, reports[i])
	}
	s.life++
	s.tries = tries
	s.reports, s.made, s.kept, s.mortal = kept, false, 0, nil
	if s.seed != 0 {
		s.ends = 1 + s.random().IntN(3)
	}
	return n.follow(ctx, in, among, s.weigh(in, weights))
}

// weigh finds the weights of the nodes of the next life. Each node has told its own, by seat. A node that has none yet gets the mean of the others.
func (s *survival) weigh(seats, told []int) (weights []int) {
	sum, known := 0, 0
	for _, seat := range seats {
		if w := told[seat]; w > 0 {
			sum, known = sum+w, known+1
		}
	}
	random := s.random()
	for _, seat := range seats {
		w := told[seat]
		switch {
		case s.seed != 0: // other weights in each life
			w = balance.Mean * (1 + random.IntN(3))
		case known == 0:
			w = balance.Mean
		case w == 0:
			w = sum / known
		}
		weights = append(weights, w)
	}
	return weights
}

// wasLeft reports whether the others went on without this process. It was apart from them, and one of them has left meanwhile: that one was in a
// later life, or has ended the run. A late process that finds only late ones has come after the end of the run, too.
func (n *Nodes) wasLeft(texts [][]byte) bool {
	if n.node == nil {
		return n.place.Late
	}
	return n.again && slices.ContainsFunc(n.node.seats, func(seat int) bool {
		return texts[seat] == nil && errors.Is(n.network.Lost(seat), node.ErrLeft)
	})
}

// follow prepares the next life, on some seats of the network. A process that has none of them has left.
func (n *Nodes) follow(ctx context.Context, seats []int, among []uint64, weights []int) (next *Nodes, more bool, _ error) {
	s := n.survival
	n.endLife()
	next = &Nodes{place: n.place, network: n.network, log: n.log, survival: s}
	if !slices.Contains(seats, n.seat()) {
		n.log.Info("orwl: this node has left the run", "node", n.seat(), "life", s.life, "nodes", seats)
		return next, false, nil
	}
	next.weights = weights
	s.log.begins(s.life, lives.Newest(s.reports), seats, weights)
	if s.life > 1 {
		next.log.Info("orwl: the run goes on", append([]any{"life", s.life, "nodes", seats}, cutOf(s.reports)...)...)
	}
	if n.network == nil {
		return next, true, nil
	}
	next.node = newLifeNode(n.network, s.life, seats, slices.Clone(among))
	for seat, life := range among {
		if life > 0 && !slices.Contains(seats, seat) {
			next.node.among[seat] = 0
			next.node.leave(seat)
		}
	}
	err := next.settle(ctx)
	return next, err == nil, err
}

// cutOf says for the log from which cut a life goes on.
func cutOf(reports []lives.Report) []any {
	cut := lives.Newest(reports)
	if cut.Run > 1 || cut.Round == lives.End {
		return []any{"from", cut.String()}
	}
	return []any{"round", cut.Round}
}

// settle waits until this node suspects no other node: it has heard from each, or has given it up. A node that was stopped for a moment
// suspects all others until the next heartbeats. Without this wait, it would end the next life at once.
func (n *Nodes) settle(ctx context.Context) error {
	again := time.NewTicker(tick / 4)
	defer again.Stop()
	for slices.ContainsFunc(n.node.seats, func(seat int) bool {
		return n.network.Suspected(seat) && n.network.Lost(seat) == nil && n.network.Apart() == nil
	}) {
		select {
		case <-again.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// lives runs the program in each life of the run.
func (n *Nodes) lives(ctx context.Context, o Options, program func(ctx context.Context, rt *Runtime) error) error {
	defer n.leave()
	heeds := n.survival.heed()
	n, more, err := n.next(ctx, nil)
	for more {
		n, more, err = n.next(ctx, n.live(ctx, o, program))
	}
	ended := err == nil && (n.node != nil || n.network == nil) // else it has left
	if done := n.place.Done; done != nil && ended {
		if err := done(); err != nil {
			n.log.Error("orwl: the launcher will take a node that was given up for a failure", "why", err)
		}
	}
	n.endLife()
	err = errors.Join(err, n.survival.close(ended))
	if n.network != nil {
		err = errors.Join(err, n.network.Close(context.WithoutCancel(ctx)))
	}
	heeds.stop()
	if errors.Is(err, errAllLeave) {
		heeds.again()
	}
	return err
}

// heed delays the effect of a signal that asks this process to end until the next cut: the others go on from there without it. At the second
// signal the process ends at once. It does so at the first one, too, if no cut can hold its state.
func (s *survival) heed() *signals {
	h := &signals{came: make(chan os.Signal, 2), over: make(chan struct{})}
	if len(leaveSignals) == 0 {
		return h
	}
	signal.Notify(h.came, leaveSignals...)
	h.running.Go(func() {
		for {
			select {
			case h.last = <-h.came:
			case <-h.over:
				return
			}
			if s.leaves.Swap(true) || !s.cuts.Load() {
				signal.Stop(h.came)
				h.again()
				return
			}
		}
	})
	return h
}

// signals are those that ask the process to end.
type signals struct {
	came    chan os.Signal
	over    chan struct{}
	running sync.WaitGroup
	last    os.Signal
}

// stop has signals do what they did before.
func (h *signals) stop() {
	signal.Stop(h.came)
	close(h.over)
	h.running.Wait()
}

// again has the last signal end the process.
func (h *signals) again() {
	if h.last != nil {
		raise(h.last)
	}
}

// endLife releases what a life has of the network. All of its nodes have ended it.
func (n *Nodes) endLife() {
	if n.node == nil {
		return
	}
	n.node.end()
	if n.node.Node == n.network {
		n.node.forget()
	}
	if n.site == nil { // the run was stopped before the life has begun here
		return
	}
	for peer := range n.Count() {
		if peer != n.Number() {
			n.site.Away(queue.Node(peer), errLeft)
		}
	}
	n.endings.Say(n.log)
}
