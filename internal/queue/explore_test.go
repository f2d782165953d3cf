package queue

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"testing"

	"github.com/orwl/go-orwl/internal/invariant"
	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/sim"
	"github.com/orwl/go-orwl/net/topology"
)

var (
	seeds  = rings.Seeds("resource.seeds", 1000, 256_000, "TestSeeds, TestGuardSeeds: seeds")
	states = rings.Size("resource.states", 1000, 4000, 200_000, "TestExhaust, TestGuardExhaust, TestPokeExhaust: states of each search; all of them, if 0")
)

// game is a system of ranks that each play a script on places of one resource. Each
// step is reported to the FIFO at once, in the order of the tickets.
type game struct {
	scripts [][]move // of each rank
	places  int      // of each rank
}

// move is a step of a script.
type move struct {
	what  what
	place int
	mode  Mode
}

type what uint8

const (
	doRequest what = iota
	doAcquire
	doRelease
	doRenew
	doCancel
	doNotify
	doTest
	doSignal // once
	doHear   // waits for the signal
)

func (m move) String() string {
	return fmt.Sprintf("%s %d %s", [...]string{"request", "acquire", "release", "renew", "cancel", "notify", "test", "signal", "hear"}[m.what], m.place, m.mode)
}

// table is one run of a game.
type table struct {
	game
	r    *Resource
	fifo FIFO
	ids  ID
	players
	effect  []func() error
	seats   [][]*seat
	writers int
	readers int
}

// players is what games of a queue have in common.
type players struct {
	at   *sim.Window // of the rank that runs
	eyes []uint64    // the values that each rank saw
	err  error       // the first mistake
}

// point lets another rank go first.
func (g *players) point() {
	w := g.at
	w.FetchOp(w.Rank(), 0, rma.NoOp, 0)
	g.at = w
}

// sees notes a value that the rank that runs saw.
func (g *players) sees(v uint64) (me rma.Rank) {
	me = g.at.Rank()
	g.eyes[me] = g.eyes[me]*0x9e3779b97f4a7c15 + v + 1
	return me
}

func (g *players) note(err error) {
	if err != nil && g.err == nil {
		g.err = err
	}
}

// wordBed is the bed of a rank: a word of its memory.
type wordBed struct {
	game   *players
	owner  rma.Rank
	disp   rma.Disp
	parked func()
}

func (s *wordBed) Init(parked func()) { s.parked = parked }

func (s *wordBed) ParkUntil(ctx context.Context, interrupt func()) {
	s.parked()
	w := s.game.at
	_, err := w.Await(ctx, s.owner, s.disp, rma.Is(1))
	s.game.at = w
	if err != nil && ctx.Err() != nil {
		interrupt()
		_, _ = w.Await(context.Background(), s.owner, s.disp, rma.Is(1))
		s.game.at = w
	}
	w.FetchOp(s.owner, s.disp, rma.Replace, 0)
	s.game.at = w
}

func (s *wordBed) Unpark() {
	w := s.game.at
	w.FetchOp(s.owner, s.disp, rma.Replace, 1)
	s.game.at = w
}

// seat is a place, its bed and what the FIFO calls its request.
type seat struct {
	Place
	wordBed
	id       ID
	notified int
}

// saw is called right after each step. The first step of an operation puts the
// operation in order.
func (t *table) saw(v uint64) {
	me := t.sees(v)
	if f := t.effect[me]; f != nil {
		t.effect[me] = nil
		t.note(f())
	}
}

func (g game) setup(f *sim.Fabric) (sim.Program, error) {
	base, err := f.Alloc(2 + g.places)
	if err != nil {
		return sim.Program{}, err
	}
	if base != 0 {
		return sim.Program{}, errors.New("the first words are somebody else's")
	}
	r, err := New("r", 0)
	if err != nil {
		return sim.Program{}, err
	}
	ranks := len(g.scripts)
	t := &table{game: g, r: r, fifo: NewFIFO(), effect: make([]func() error, ranks), players: players{eyes: make([]uint64, ranks)}}
	r.probe = t
	t.seats = make([][]*seat, ranks)
	for p := range t.seats {
		for i := range g.places {
			s := &seat{wordBed: wordBed{game: &t.players, owner: rma.Rank(p), disp: rma.Disp(1 + i)}}
			s.sleepIn(&s.wordBed)
			t.seats[p] = append(t.seats[p], s)
		}
	}
	return sim.Program{Rank: t.play, Check: t.check, State: t.state}, nil
}

func (t *table) play(ctx context.Context, w rma.Window) error {
	t.at = w.(*sim.Window)
	me := w.Rank()
	for i, m := range t.scripts[me] {
		if err := t.move(ctx, t.seats[me][m.place], m); err != nil {
			return fmt.Errorf("move %d, %s: %w", i, m, err)
		}
		if t.err != nil {
			return t.err
		}
	}
	return nil
}

// move makes a move, if it is one that the place can make now.
func (t *table) move(ctx context.Context, s *seat, m move) error {
	me, w := s.owner, t.at
	defer func() { t.at = w }()
	switch m.what {
	case doRequest:
		if s.Held() || s.Requested() {
			return nil
		}
		t.ids++
		s.id, s.notified = t.ids, 0
		t.effect[me] = func() error { _, err := t.fifo.Request(s.id, m.mode, nil); return err }
		return s.Request(t.r, m.mode)
	case doAcquire:
		if !s.Requested() {
			return nil
		}
		if err := s.Acquire(ctx); err != nil {
			return err
		}
		return t.enter(s)
	case doRelease, doRenew:
		if !s.Held() {
			return nil
		}
		t.leave(s)
		old := s.id
		end := func() error { _, err := t.fifo.Release(old, nil); return err }
		if m.what == doRelease {
			t.effect[me] = end
			return s.Release()
		}
		t.ids++
		s.id, s.notified = t.ids, 0
		mode := s.Mode()
		t.effect[me] = func() error {
			_, err := t.fifo.Request(s.id, mode, nil)
			t.effect[me] = end
			return err
		}
		return s.Renew()
	case doCancel:
		if !s.Requested() {
			return nil
		}
		// The FIFO cancels first, so it may grant earlier than the queue.
		_, err := t.fifo.Cancel(s.id, nil)
		if errors.Is(err, ErrGranted) {
			_, err = t.fifo.Release(s.id, nil)
		}
		t.note(err)
		return s.Cancel()
	case doNotify:
		if !s.Requested() || s.listed {
			return nil
		}
		id := s.id
		return s.Notify(func() {
			if granted, queued := t.fifo.Granted(id); s.id == id && queued && !granted {
				t.note(fmt.Errorf("request %d was notified before it was granted", id))
			}
			s.notified++
		})
	case doSignal:
		t.at.FetchOp(0, rma.Disp(1+t.places), rma.Replace, 1)
	case doHear:
		_, err := t.at.Await(ctx, 0, rma.Disp(1+t.places), rma.Is(1))
		return err
	case doTest:
		if s.Requested() && s.Granted() {
			if granted, _ := t.fifo.Granted(s.id); !granted {
				return fmt.Errorf("request %d tests as granted, and is not", s.id)
			}
		}
	}
	return nil
}

// enter checks that the FIFO has granted what was acquired, and that the holders may be
// there together.
func (t *table) enter(s *seat) error {
	if granted, _ := t.fifo.Granted(s.id); !granted {
		return fmt.Errorf("request %d was acquired and is not granted", s.id)
	}
	if s.Mode() == Write {
		t.writers++
	} else {
		t.readers++
	}
	if t.writers > 1 || t.writers == 1 && t.readers > 0 {
		return fmt.Errorf("%d writers and %d readers hold it", t.writers, t.readers)
	}
	return nil
}

func (t *table) leave(s *seat) {
	if s.Mode() == Write {
		t.writers--
	} else {
		t.readers--
	}
}

func (t *table) check() error {
	if t.err != nil {
		return t.err
	}
	if n := t.fifo.Len(); n != 0 {
		return fmt.Errorf("%d requests are left", n)
	}
	if q, c := t.r.requested.Load(), t.r.completed.Load(); q != c {
		return fmt.Errorf("%#x requested and %#x completed", q, c)
	}
	if n := t.r.waiting(); n != 0 {
		return fmt.Errorf("%d still wait", n)
	}
	return nil
}

// waiters are all waiters that a queue can find, and the number of the slot or list.
func (q *queue) waiters() iter.Seq2[*waiter, int] {
	return func(yield func(*waiter, int) bool) {
		at := 0
		all := func(s *slot, l *list) bool {
			at++
			if w := s.Load(); w != nil && !yield(w, at) {
				return false
			}
			for w := l.Load(); w != nil; w = w.next {
				if !yield(w, -at) {
					return false
				}
			}
			return true
		}
		for i := range q.writers {
			if !all(&q.writers[i], new(list)) {
				return
			}
		}
		if !all(new(slot), &q.readers) {
			return
		}
		for s := q.far.Load(); s != nil; s = s.older {
			for i := range s.bays {
				if !all(&s.bays[i].writer, &s.bays[i].readers) {
					return
				}
			}
		}
	}
}

// waiting is how many waiters in the queue wait.
func (q *queue) waiting() (n int) {
	for w := range q.waiters() {
		if w.state() != granted {
			n++
		}
	}
	return n
}

// mixWaiters mixes in what a goroutine that looks for waiters finds.
func (q *queue) mixWaiters(mix func(uint64)) {
	for w, at := range q.waiters() {
		mix(uint64(at))
		mix(w.word.Load())
	}
}

// state is what the ranks share beyond the simulator's memory, and what they saw.
func (t *table) state() uint64 {
	h := uint64(14695981039346656037)
	mix := func(v uint64) { h = (h ^ v) * 0x9e3779b97f4a7c15; h ^= h >> 29 }
	mix(t.r.requested.Load())
	mix(t.r.completed.Load())
	t.r.mixWaiters(mix)
	for p, seats := range t.seats {
		mix(t.eyes[p])
		for _, s := range seats {
			mix(s.state.Load())
			mix(uint64(s.id))
			if s.w != nil {
				mix(s.w.word.Load())
			}
		}
	}
	t.fifo.All(func(group int, m Mode, id ID) bool {
		mix(uint64(group)<<40 | uint64(m)<<32 | uint64(id))
		return true
	})
	return h
}

// system is the game as one for the simulator.
func (g game) system() sim.System {
	return sim.System{Topology: topology.Flat(len(g.scripts)), Setup: g.setup, MaxSteps: 1 << 16}
}

// draw makes a random game. No script leaves anything behind, and none can deadlock: a
// rank that acquires with one place holds nothing, and waits for nothing, with another.
func draw(seed uint64) game {
	rng := rand.New(rand.NewPCG(seed, 1))
	g := game{scripts: make([][]move, 2+rng.IntN(4)), places: 1 + rng.IntN(2)}
	writes := 1 + rng.IntN(4) // of 4
	for p := range g.scripts {
		last := move{what: doRelease}
		for range 2 + rng.IntN(12) {
			next := []what{doRequest}
			switch last.what {
			case doRequest, doRenew, doNotify, doTest:
				next = []what{doAcquire, doAcquire, doCancel, doNotify, doTest}
			case doAcquire:
				next = []what{doRelease, doRenew}
			}
			m := move{what: next[rng.IntN(len(next))], place: last.place}
			if m.what == doRequest {
				m.place = rng.IntN(g.places)
				if rng.IntN(4) < writes {
					m.mode = Write
				}
			}
			g.scripts[p] = append(g.scripts[p], m)
			last = m
		}
		for i := range g.places {
			g.scripts[p] = append(g.scripts[p], move{what: doCancel, place: i}, move{what: doRelease, place: i})
		}
	}
	return g
}

// TestSeeds plays random scripts under random schedules.
func TestSeeds(t *testing.T) {
	rings.Computes(t)
	needsProbe(t)
	playScripts(t, seeds.All())
}

// TestRareStates plays the same seeds in each change. They reach every rare state: a share of
// TestSeeds need not.
func TestRareStates(t *testing.T) {
	rings.Computes(t)
	rings.Needs(t, rings.Change)
	needsProbe(t)
	invariant.Reached()
	playScripts(t, upTo(3000))
	mustReach(t, "a cancel loses against the grant", "a ghost is completed by another request's release",
		"a cancelled writer is completed beside readers", "a list is looked through again")
}

func playScripts(t *testing.T, seeds iter.Seq[uint64]) {
	t.Helper()
	steps, n := 0, 0
	for seed := range seeds {
		report := draw(seed).system().Seeds(seed, 1)
		steps += report.Steps
		n++
		if err := report.Err(); err != nil {
			t.Fatalf("seed %d: %v\n%v", seed, err, draw(seed).scripts)
		}
	}
	t.Logf("%d seeds, %d steps", n, steps)
}

// upTo are the first n seeds.
func upTo(n uint64) iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		for seed := range n {
			if !yield(seed) {
				return
			}
		}
	}
}

// needsProbe skips a test in a build whose queue has no steps to schedule.
func needsProbe(t *testing.T) {
	if !invariant.Enabled {
		t.Skip("an ordinary build cannot stop between the steps of a queue: go test -tags invariants, as CI does")
	}
}

// TestExhaust visits every state of small games.
func TestExhaust(t *testing.T) {
	rings.Computes(t)
	needsProbe(t)
	t.Parallel()
	one := func(m Mode, w ...what) (script []move) {
		for _, w := range w {
			script = append(script, move{what: w, mode: m})
		}
		return script
	}
	round := func(m Mode) []move { return one(m, doRequest, doAcquire, doRelease) }
	for name, scripts := range map[string][][]move{
		"two writers":            {round(Write), round(Write)},
		"writer, reader":         {round(Write), round(Read)},
		"three writers":          {round(Write), round(Write), round(Write)},
		"two readers, writer":    {round(Read), round(Write), round(Read)},
		"pairs":                  {one(Write, doRequest, doAcquire, doRenew, doAcquire, doRelease), one(Write, doRequest, doAcquire, doRenew, doAcquire, doRelease)},
		"cancel between":         {round(Write), one(Write, doRequest, doCancel), round(Write)},
		"cancel between readers": {round(Read), one(Write, doRequest, doCancel), round(Read)},
		// The first reader goes on only when the second has come in.
		"readers meet": {one(Read, doRequest, doAcquire, doHear, doRelease), one(Write, doRequest, doCancel),
			one(Read, doRequest, doAcquire, doSignal, doRelease)},
		"notified readers meet": {one(Read, doRequest, doNotify, doAcquire, doHear, doRelease), one(Write, doRequest, doCancel),
			one(Read, doRequest, doAcquire, doSignal, doRelease)},
		// A ghost that has a notification lets them meet as well.
		"readers meet at a notified ghost": {one(Read, doRequest, doAcquire, doHear, doRelease), one(Write, doRequest, doNotify, doCancel),
			one(Read, doRequest, doAcquire, doSignal, doRelease)},
		"pair and cancelled reader": {one(Write, doRequest, doAcquire, doRenew, doAcquire, doRelease), one(Read, doRequest, doNotify, doCancel),
			one(Write, doRequest, doAcquire, doRelease)},
		"cancelled reader":       {round(Write), one(Read, doRequest, doCancel), round(Write)},
		"notified":               {round(Write), one(Write, doRequest, doNotify, doAcquire, doRelease)},
		"notified and cancelled": {round(Write), one(Write, doRequest, doNotify, doCancel), round(Read)},
	} {
		t.Run(name, func(t *testing.T) {
			g := game{scripts: scripts, places: 1}
			report := g.system().Exhaust(sim.Limit{States: states.N()})
			if err := report.Err(); err != nil {
				t.Fatal(err)
			}
			t.Logf("%d states, %d runs, complete: %t", report.States, report.Runs, report.Complete)
		})
	}
}

// mustReach fails the test for each state that was not reached since the last call of
// Reached. An ordinary build does not count: go test -tags invariants, as CI does.
func mustReach(t *testing.T, states ...string) {
	t.Helper()
	if !invariant.Enabled {
		return
	}
	reached := invariant.Reached()
	for _, s := range states {
		if reached[s] == 0 {
			t.Errorf("no seed reaches this state: %s", s)
		}
		t.Logf("%6d times: %s", reached[s], s)
	}
}

// FIFO is the specification of the queue, liveness.FIFO. Package liveness imports
// this package, so only the tests in package resource_test can import liveness. They
// set NewFIFO, and the tests in this package use it.
type FIFO interface {
	Request(id ID, m Mode, granted []ID) ([]ID, error)
	Release(id ID, granted []ID) ([]ID, error)
	Renew(id, next ID, m Mode, granted []ID) ([]ID, error)
	Cancel(id ID, granted []ID) ([]ID, error)
	Granted(id ID) (granted, queued bool)
	Len() int
	All(yield func(group int, m Mode, id ID) bool)
}

// NewFIFO makes an empty FIFO.
var NewFIFO func() FIFO
