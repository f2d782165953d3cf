package queue

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/sim"
	"github.com/orwl/go-orwl/net/topology"
)

// sides is a game with ordered and relaxed access to one resource: each rank plays a
// script on places and on relaxed access. One more rank is the FIFO's rank of the
// guard's lock.
//
// The FIFO uses its window on whichever rank's stack it is, which the simulator
// does not allow: a window belongs to its rank. So the FIFO's side of the lock gets
// a window that says it is the FIFO's rank, and has the rank that runs do what it
// is asked for (proxy). Relaxed access needs no RWLocker to find a rank: the rank
// that knocks uses its own side.
type sides struct {
	scripts [][]bout
	places  int // of each rank
	tl      int
	locked  string // by which lock of the table; one of a single word, if empty
	faults  sim.Faults
}

// bout is a step of a script.
type bout struct {
	what  action
	place int
	mode  Mode
}

type action uint8

const (
	orderedRequest action = iota
	orderedAcquire
	orderedHasty // acquire, without waiting
	orderedRelease
	orderedRenew
	orderedCancel
	orderedTest // and acquire, if it is granted
	orderedPeek // test, and leave it at that
	orderedNotify
	relaxedAccess
	relaxedOpen
	signalOthers // once
	hearSignal
	breakIt
	deeds
)

func (m bout) String() string {
	return fmt.Sprintf("%s %d %s", [deeds]string{"request", "acquire", "hasty", "release", "renew", "cancel", "test", "peek", "notify",
		"relaxed", "open", "signal", "hear", "break"}[m.what], m.place, m.mode)
}

// match is one run of a game.
type match struct {
	sides
	r    *Resource
	fifo FIFO
	ids  ID
	players
	lock      lockSides
	onRequest []func() error
	onEnd     []func() error
	seats     [][]*chair
	beds      rma.Disp // one for each rank of relaxed access, after those for places
	requested uint64   // the word at the last look
	completed uint64
	inRow     int    // grants while a relaxed access waits, since the FIFO took the lock
	word      uint64 // of the guard, as last seen
	most      int    // inRow at its highest
	writers   int
	readers   int
	relaxedW  int
	relaxedR  int
	written   uint64
}

// chair is a place, and its bed.
type chair struct {
	Place
	wordBed
	id ID
}

// saw is called right after each step. The words of the queue show what the step means
// to the FIFO: the first change of each word by an operation gives it its order.
func (t *match) saw(v uint64) {
	me := t.sees(v)
	if q := t.r.requested.Load() &^ flags; q != t.requested {
		t.requested = q
		t.effect(&t.onRequest[me])
	}
	if c := t.r.completed.Load() &^ flags; c != t.completed {
		t.completed = c
		t.effect(&t.onEnd[me])
	}
	if g := t.r.guard.Load(); g != nil && g.word.Load() != t.word {
		t.count(g.word.Load())
	}
}

// count checks that a relaxed access does not wait for too many grants. In the
// beginning the FIFO owns the guard until all strays are gone. This time does not
// count.
func (t *match) count(v uint64) {
	before := t.word
	t.word = v
	switch mode := v & modeMask; {
	case v&relaxedMask == 0 || v&busy != 0 || mode == unowned || mode == opening:
		t.inRow = 0
	case members(before) == 0 && members(v) != 0:
		if t.inRow++; t.inRow > t.tl {
			t.note(fmt.Errorf("%d grants in a row while a relaxed access waits, T_L is %d", t.inRow, t.tl))
		}
		t.most = max(t.most, t.inRow)
	}
}

func (t *match) effect(f *func() error) {
	if *f != nil {
		t.note((*f)())
		*f = nil
	}
}

func (d sides) setup(f *sim.Fabric) (sim.Program, error) {
	ranks := len(d.scripts)
	base, err := f.Alloc(3 + d.places)
	if err != nil {
		return sim.Program{}, err
	}
	if base != 0 {
		return sim.Program{}, errors.New("the first words are somebody else's")
	}
	r, err := New("r", 16)
	if err != nil {
		return sim.Program{}, err
	}
	t := &match{sides: d, fifo: NewFIFO(), r: r, players: players{eyes: make([]uint64, ranks+1)},
		onRequest: make([]func() error, ranks), onEnd: make([]func() error, ranks)}
	r.probe = t
	t.beds = rma.Disp(2 + d.places)
	if t.lock, err = newLockSides(f, d.locked); err != nil {
		return sim.Program{}, err
	}
	err = r.allow(RelaxedOptions{TL: d.tl, Guard: func(string) (Guard, error) {
		return Guard{Ordered: t.lock.at(&proxy{t: t, rank: rma.Rank(ranks)}), Relaxed: t}, nil
	}})
	if err != nil {
		return sim.Program{}, err
	}
	r.relaxed.state().in = func() Bed { return &wordBed{game: &t.players, owner: t.at.Rank(), disp: t.beds} }
	t.seats = make([][]*chair, ranks)
	for p := range t.seats {
		for i := range d.places {
			s := &chair{wordBed: wordBed{game: &t.players, owner: rma.Rank(p), disp: rma.Disp(1 + i)}}
			s.sleepIn(&s.wordBed)
			t.seats[p] = append(t.seats[p], s)
		}
	}
	return sim.Program{Rank: t.bout, Check: t.check, State: t.state}, nil
}

func (t *match) bout(ctx context.Context, w rma.Window) error {
	me := w.Rank()
	t.at = w.(*sim.Window)
	if int(me) == len(t.scripts) {
		return nil
	}
	for i, m := range t.scripts[me] {
		err := t.move(ctx, t.seats[me][m.place], m)
		t.at = w.(*sim.Window)
		if err != nil && (ctx.Err() == nil || !errors.Is(err, ctx.Err())) && !(t.broken() && errors.Is(err, ErrBroken)) {
			return fmt.Errorf("move %d, %s: %w", i, m, err)
		}
		if t.err != nil {
			return t.err
		}
	}
	return nil
}

func (t *match) broken() bool { return t.r.reason.Load() != nil }

// move makes a move, if it is one that the place can make now.
func (t *match) move(ctx context.Context, s *chair, m bout) error {
	me := s.owner
	switch m.what {
	case orderedRequest:
		if s.Held() || s.Requested() {
			return nil
		}
		t.request(s, m.mode)
		return s.Request(t.r, m.mode)
	case orderedAcquire:
		if !s.Requested() {
			return nil
		}
		if err := s.Acquire(ctx); err != nil {
			return err
		}
		return t.enter(s)
	case orderedHasty:
		if !s.Requested() {
			return nil
		}
		w := t.at
		err := s.Acquire(ended())
		t.at = w
		if errors.Is(err, context.Canceled) {
			return nil
		}
		if err != nil {
			return err
		}
		return t.enter(s)
	case orderedRelease, orderedRenew:
		if !s.Held() {
			return nil
		}
		t.leave(s)
		old := s.id
		t.onEnd[me] = func() error { _, err := t.fifo.Release(old, nil); return err }
		if m.what == orderedRelease {
			return s.Release()
		}
		t.request(s, s.Mode())
		return s.Renew()
	case orderedCancel:
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
	case orderedTest:
		if !s.Requested() || !s.Granted() || t.broken() {
			return nil
		}
		w := t.at
		// With a context that has ended, Acquire cannot wait.
		if err := s.Acquire(ended()); err != nil && !t.broken() {
			return fmt.Errorf("tests as granted, and has to wait: %w", err)
		}
		t.at = w
		if !s.Held() {
			return nil
		}
		return t.enter(s)
	case orderedPeek:
		if s.Requested() {
			s.Granted()
		}
	case orderedNotify:
		if s.Requested() {
			if err := s.Notify(func() {}); !errors.Is(err, ErrNotified) {
				return err
			}
		}
	case relaxedAccess:
		inside := func(b []byte) error {
			w := t.at
			defer func() { t.at = w }()
			if err := t.meet(m.mode, 1); err != nil {
				return err
			}
			if err := t.see(b, m.mode); err != nil {
				return err
			}
			t.point()
			_ = t.meet(m.mode, -1)
			return nil
		}
		if m.mode == Write {
			return t.r.WriteRelaxed(ctx, inside)
		}
		return t.r.ReadRelaxed(ctx, inside)
	case relaxedOpen:
		return t.r.Open(ctx)
	case signalOthers:
		t.at.FetchOp(0, rma.Disp(1+t.places), rma.Replace, 1)
	case hearSignal:
		_, err := t.at.Await(ctx, 0, rma.Disp(1+t.places), rma.Is(1))
		return err
	case breakIt:
		t.r.Break(errors.New("for a change"))
	}
	return nil
}

func (t *match) request(s *chair, m Mode) {
	t.ids++
	id := t.ids
	s.id = id
	t.onRequest[s.owner] = func() error { _, err := t.fifo.Request(id, m, nil); return err }
}

// meet counts relaxed readers and writers that are inside.
func (t *match) meet(m Mode, n int) error {
	if m == Write {
		t.relaxedW += n
	} else {
		t.relaxedR += n
	}
	return t.exclusive()
}

func (t *match) exclusive() error {
	w, r := t.writers+t.relaxedW, t.readers+t.relaxedR
	if w > 1 || w == 1 && r > 0 {
		return fmt.Errorf("inside are %d writers and %d readers by ordered access, %d and %d by relaxed access",
			t.writers, t.readers, t.relaxedW, t.relaxedR)
	}
	return nil
}

// enter checks that the FIFO has granted what was acquired, and that the holders may be
// there together. It then stays for some steps.
func (t *match) enter(s *chair) error {
	if granted, _ := t.fifo.Granted(s.id); !granted {
		return fmt.Errorf("request %d was acquired and is not granted", s.id)
	}
	if s.Mode() == Write {
		t.writers++
	} else {
		t.readers++
	}
	if err := t.exclusive(); err != nil {
		return err
	}
	view := s.Bytes
	if s.Mode() == Write {
		view = s.Writable
	}
	b, err := view()
	if err == nil {
		err = t.see(b, s.Mode())
	}
	if err != nil {
		return err
	}
	t.point()
	return nil
}

func (t *match) leave(s *chair) {
	if s.Mode() == Write {
		t.writers--
	} else {
		t.readers--
	}
}

func (t *match) check() error {
	if t.err != nil {
		return t.err
	}
	if n := t.fifo.Len(); n != 0 {
		return fmt.Errorf("%d requests are left", n)
	}
	if q, c := t.r.requested.Load()&^flags, t.r.completed.Load()&^flags; q != c {
		return fmt.Errorf("%#x requested and %#x completed", q, c)
	}
	g := t.r.guard.Load()
	if g == nil {
		return nil
	}
	if v := g.word.Load(); v&(relaxedMask|memberMask|busy|passing) != 0 || v&stray != 0 {
		return fmt.Errorf("the guard's word is %#x in the end", v)
	}
	if w := g.list.Load(); w != nil {
		return fmt.Errorf("the guard still lists a waiter, state %d", w.state())
	}
	return nil
}

// state is what the ranks share beyond the simulator's memory, and what they saw.
func (t *match) state() uint64 {
	h := uint64(14695981039346656037)
	mix := func(v uint64) { h = (h ^ v) * 0x9e3779b97f4a7c15; h ^= h >> 29 }
	mix(t.r.requested.Load())
	mix(t.r.completed.Load())
	mix(uint64(t.inRow))
	mix(t.written)
	if t.broken() {
		mix(1)
	}
	list := func(w *waiter) {
		for ; w != nil; w = w.next {
			mix(w.word.Load())
		}
	}
	if g := t.r.guard.Load(); g != nil {
		mix(g.word.Load())
		mix(uint64(g.debt.Load()))
		if g.armed.Load() {
			mix(2)
		}
		list(g.list.Load())
	}
	t.r.mixWaiters(mix)
	for _, seen := range t.eyes {
		mix(seen)
	}
	for _, seats := range t.seats {
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

func (d sides) system() sim.System {
	return sim.System{Topology: topology.Flat(len(d.scripts) + 1), Setup: d.setup, MaxSteps: 1 << 16, Faults: d.faults}
}

// drawSides makes a random game. No script leaves anything behind, and none can
// deadlock: a rank that acquires or makes a relaxed access holds nothing else. While
// there may be no guard yet, it also waits for nothing that it must bring about itself.
func drawSides(seed uint64) sides {
	rng := rand.New(rand.NewPCG(seed, 2))
	tables := []string{"", "", "RMA-RW", "RMA-RW", "foMPI-RW"}
	d := sides{scripts: make([][]bout, 2+rng.IntN(4)), places: 1 + rng.IntN(2), tl: 1 + rng.IntN(4), locked: tables[rng.IntN(len(tables))]}
	d.faults.Cancels = max(0, rng.IntN(4)-1)
	writes := 1 + rng.IntN(4) // of 4
	relaxed := rng.IntN(8)    // of 8
	mode := func() Mode {
		if rng.IntN(4) < writes {
			return Write
		}
		return Read
	}
	for p := range d.scripts {
		last := bout{what: orderedRelease}
		if p == 0 && rng.IntN(3) == 0 {
			d.scripts[p] = append(d.scripts[p], bout{what: relaxedOpen})
		}
		for range 2 + rng.IntN(14) {
			m := bout{place: last.place}
			next := []action{orderedRequest}
			switch last.what {
			case orderedRequest, orderedRenew, orderedNotify, orderedPeek:
				next = []action{orderedAcquire, orderedAcquire, orderedHasty, orderedCancel, orderedNotify, orderedTest, orderedPeek}
			case orderedHasty:
				next = []action{orderedAcquire, orderedAcquire, orderedHasty, orderedCancel, orderedNotify}
				d.scripts[p] = append(d.scripts[p], bout{what: orderedRelease, place: m.place})
			case orderedTest:
				next = []action{orderedRelease, orderedCancel} // one of the two, for the other is left out
			case orderedAcquire:
				next = []action{orderedRelease, orderedRenew}
			default:
				if rng.IntN(8) < relaxed {
					next = []action{relaxedAccess}
				}
			}
			m.what = next[rng.IntN(len(next))]
			if m.what == orderedRequest {
				m.place = rng.IntN(d.places)
			}
			m.mode = mode()
			if last.what == orderedTest {
				other := orderedCancel + orderedRelease - m.what
				d.scripts[p] = append(d.scripts[p], bout{what: other, place: m.place})
			}
			d.scripts[p] = append(d.scripts[p], m)
			last = m
		}
		for i := range d.places {
			d.scripts[p] = append(d.scripts[p], bout{what: orderedCancel, place: i}, bout{what: orderedRelease, place: i})
		}
		if rng.IntN(12) == 0 {
			at := rng.IntN(len(d.scripts[p]))
			d.scripts[p] = slices.Insert(d.scripts[p], at, bout{what: breakIt})
		}
		d.scripts[p] = append(d.scripts[p], bout{what: relaxedAccess, mode: mode()})
	}
	return d
}

// playSides plays games that draw makes, under random schedules.
func playSides(t *testing.T, draw func(seed uint64) sides) {
	t.Helper()
	needsProbe(t)
	t.Parallel()
	steps, n := 0, 0
	for seed := range seeds.All() {
		report := draw(seed).system().Seeds(seed, 1)
		steps += report.Steps
		n++
		if err := report.Err(); err != nil {
			t.Fatalf("seed %d: %v\n%+v", seed, err, draw(seed))
		}
	}
	t.Logf("%d seeds, %d steps", n, steps)
}

// exhaustSides visits every state of small games.
func exhaustSides(t *testing.T, games map[string]sides) {
	t.Helper()
	needsProbe(t)
	t.Parallel()
	for name, d := range games {
		t.Run(name, func(t *testing.T) {
			d.places, d.tl = 1, 1
			report := d.system().Exhaust(sim.Limit{States: states.N()})
			if err := report.Err(); err != nil {
				t.Fatal(err)
			}
			t.Logf("%d states, %d runs, complete: %t", report.States, report.Runs, report.Complete)
		})
	}
}

// script is a script of actions in one mode.
func script(m Mode, all ...action) (s []bout) {
	for _, a := range all {
		s = append(s, bout{what: a, mode: m})
	}
	return s
}

// orderedRound is the script of one ordered access.
func orderedRound(m Mode) []bout { return script(m, orderedRequest, orderedAcquire, orderedRelease) }

// TestGuardSeeds plays random scripts under random schedules.
func TestGuardSeeds(t *testing.T) {
	rings.Computes(t)
	playSides(t, drawSides)
}

// TestGuardExhaust visits every state of small games.
func TestGuardExhaust(t *testing.T) {
	rings.Computes(t)
	one, round := script, orderedRound
	pair := func(m Mode) []bout {
		return one(m, orderedRequest, orderedAcquire, orderedRenew, orderedAcquire, orderedRelease)
	}
	enter := func(m Mode) []bout { return one(m, relaxedAccess) }
	late := func(m Mode) []bout { return one(m, relaxedOpen, relaxedAccess) }
	exhaustSides(t, map[string]sides{
		"writer":           {scripts: [][]bout{round(Write), enter(Write)}},
		"reader":           {scripts: [][]bout{round(Read), enter(Write)}},
		"two enter":        {scripts: [][]bout{round(Write), enter(Write), enter(Read)}},
		"opened":           {scripts: [][]bout{pair(Write), late(Write)}},
		"two writers":      {scripts: [][]bout{round(Write), round(Write), enter(Write)}},
		"reader, writer":   {scripts: [][]bout{round(Read), round(Write), enter(Read)}},
		"two readers":      {scripts: [][]bout{round(Read), round(Read), enter(Write)}},
		"pair":             {scripts: [][]bout{pair(Write), enter(Write), enter(Write)}},
		"cancelled":        {scripts: [][]bout{one(Write, orderedRequest, orderedCancel), round(Read), enter(Write)}},
		"cancelled reader": {scripts: [][]bout{round(Write), one(Read, orderedRequest, orderedCancel), enter(Write)}},
		"tested":           {scripts: [][]bout{one(Write, orderedRequest, orderedTest, orderedCancel, orderedRelease), enter(Write), enter(Read)}},
		"notified, peeked, cancelled": {scripts: [][]bout{one(Write, relaxedOpen, orderedRequest, orderedNotify, orderedPeek, orderedCancel,
			orderedRequest, orderedAcquire, orderedRelease), round(Write)}},
		"tested reader":    {scripts: [][]bout{one(Read, orderedRequest, orderedTest, orderedCancel, orderedRelease), late(Write)}},
		"a context ends":   {scripts: [][]bout{append(round(Write), one(Write, orderedCancel)...), late(Write)}, faults: sim.Faults{Cancels: 1}},
		"two contexts end": {scripts: [][]bout{append(round(Read), one(Read, orderedCancel)...), append(round(Read), one(Read, orderedCancel)...), late(Write)}, faults: sim.Faults{Cancels: 2}},
		"broken":           {scripts: [][]bout{append(round(Write), one(Write, orderedCancel)...), late(Write), one(Write, breakIt)}},
		// The first reader goes on only when the second has come in.
		"readers meet": {scripts: [][]bout{one(Read, orderedRequest, orderedAcquire, hearSignal, orderedRelease),
			one(Read, orderedRequest, orderedAcquire, signalOthers, orderedRelease), enter(Write)}},
		"readers meet again": {scripts: [][]bout{one(Read, relaxedOpen, orderedRequest, orderedAcquire, hearSignal, orderedRelease),
			one(Read, orderedRequest, orderedAcquire, signalOthers, orderedRelease), enter(Write)}},
	})
}

// see checks that an access finds the last write, all of it, and has a writer make the next.
func (t *match) see(b []byte, m Mode) error {
	x, y := binary.NativeEndian.Uint64(b), binary.NativeEndian.Uint64(b[8:])
	if x != t.written || y != t.written {
		return fmt.Errorf("the bytes are of write %d and %d, want %d", x, y, t.written)
	}
	if m == Write {
		t.written++
		binary.NativeEndian.PutUint64(b, t.written)
		binary.NativeEndian.PutUint64(b[8:], t.written)
	}
	return nil
}
