package ring

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"github.com/orwl/go-orwl/internal/invariant"
	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/sim"
	"github.com/orwl/go-orwl/net/topology"
)

var (
	seeds  = rings.Seeds("ring.seeds", 300, 100_000, "TestSeeds: seeds")
	states = rings.Size("ring.states", 3000, 12_000, 500_000, "TestExhaust: states of each search; 0: all")
)

// game is some writers, each with a ring, to a node with some workers. Another goroutine of that node waits for the
// bell. Ranks are the writers, the workers and that goroutine, in this order.
type game struct {
	writers []int // by writer: how many messages it writes
	size    int   // bytes of a message
	workers []int // by worker: how often it comes to look
	looks   int   // how often it looks then, before it leaves
	frames  int   // how many messages a look takes at most
	broken  flaw

	memory [][]byte // by writer, of one run after the other
}

// flaw is what is wrong in a game that the explorer must reject.
type flaw int

const (
	noFlaw     flaw = iota
	ringsFirst      // a writer rings before it writes
	leaves          // nobody looks once more
	tries           // a look that is the last one does not wait for another one
)

// The words of rank 0.
const (
	touch   rma.Disp = 0
	bell    rma.Disp = 1 // see rung and over
	reading rma.Disp = 2 // by writer: 1 while its ring is read
	space   rma.Disp = 4 // by writer: how often something was read
	words   rma.Disp = 6
)

// The bell's word.
const (
	rung = 1 << iota // somebody has rung
	over             // all others have stopped
)

// table is one run of a game.
type table struct {
	game
	at        *sim.Window // of the rank that runs
	eyes      []uint64    // by rank: what it saw
	attention Attention
	word      atomic.Uint32
	lanes     []*lane // by writer
	left      int     // ranks that have not stopped, but for the one that hears the bell
}

// lane is a writer's ring, and how the node reads it.
type lane struct {
	writer  *Writer
	reader  *Reader
	written atomic.Uint64
	read    atomic.Uint64
	taken   int             // bytes
	reads   uint64          // how often
	rung    map[uint32]bool // by the attention
}

// filling is what a writer writes.
var filling = func() []byte {
	b := make([]byte, 3*Size)
	for i := range b {
		b[i] = byte(i%251) + byte(i/Size) + 1
	}
	return b
}()

// from is where rings begin: their first bytes lie at the end of the memory.
const from = Size - 1

func (g game) ranks() int { return len(g.writers) + len(g.workers) + 1 }

func (g game) setup(f *sim.Fabric) (sim.Program, error) {
	base, err := f.Alloc(int(words))
	if err != nil || base != 0 {
		return sim.Program{}, fmt.Errorf("the first words are at %d: %w", base, err)
	}
	t := &table{game: g, eyes: make([]uint64, g.ranks()), left: g.ranks() - 1}
	for i, messages := range g.writers {
		l, memory := &lane{rung: map[uint32]bool{}}, g.memory[i]
		for k := range min(Size, messages*g.size) {
			memory[(from+k)%Size] = 0
		}
		l.read.Store(from)
		l.writer = NewWriter(memory, &l.written, &l.read, &t.word)
		l.reader = NewReader(memory, &l.written, &l.read, from)
		l.writer.probe, l.reader.probe = t, t
		t.lanes = append(t.lanes, l)
	}
	t.attention.probe = t
	t.attention.In(&t.word)
	return sim.Program{Rank: t.play, Check: t.check, State: t.state}, nil
}

// step runs an operation of the window of the rank that runs. Meanwhile other ranks run.
func (t *table) step(f func(w *sim.Window) uint64) uint64 {
	w := t.at
	v := f(w)
	t.at = w
	return v
}

func (t *table) cas(d rma.Disp, from, to uint64) uint64 {
	return t.step(func(w *sim.Window) uint64 { return w.CAS(0, d, from, to) })
}

func (t *table) put(d rma.Disp, v uint64) uint64 {
	return t.step(func(w *sim.Window) uint64 { return w.FetchOp(0, d, rma.Replace, v) })
}

func (t *table) await(d rma.Disp, until rma.Until) {
	t.step(func(w *sim.Window) uint64 {
		v, _ := w.Await(context.Background(), 0, d, until)
		return v
	})
}

func (t *table) point() {
	t.step(func(w *sim.Window) uint64 { return w.FetchOp(w.Rank(), touch, rma.NoOp, 0) })
}

func (t *table) saw(v uint64) {
	me := t.at.Rank()
	t.eyes[me] = t.eyes[me]*0x9e3779b97f4a7c15 + v + 1
}

func (t *table) play(_ context.Context, w rma.Window) error {
	t.at = w.(*sim.Window)
	switch me := int(w.Rank()); {
	case me < len(t.writers):
		t.write(me)
	case me < t.ranks()-1:
		for range t.workers[me-len(t.writers)] {
			t.work()
		}
	default:
		t.listen()
		return nil
	}
	if t.left--; t.left == 0 {
		t.ring(over)
	}
	return nil
}

// ring sets a bit of the bell's word.
func (t *table) ring(bit uint64) {
	for have := uint64(0); ; {
		found := t.cas(bell, have, have|bit)
		if found == have {
			return
		}
		have = found
	}
}

// write writes messages as a stream does: see lane's toRing. While there is no room, it tries once more, and then waits
// until something was read.
func (t *table) write(i int) {
	l := t.lanes[i]
	for k := range t.writers[i] {
		for b, tries := filling[k*t.size:(k+1)*t.size], 0; ; tries++ {
			reads := l.reads
			must := t.broken == ringsFirst && l.writer.Rings()
			n := l.writer.Write(b)
			b = b[n:]
			if t.broken != ringsFirst {
				must = l.writer.Rings()
			}
			if must {
				now := l.writer.rung
				if now%2 == 0 || l.rung[now] {
					panic(fmt.Sprintf("a writer rings at %d, after %v", now, l.rung))
				}
				l.rung[now] = true
				t.ring(rung)
			}
			if len(b) == 0 {
				break
			}
			if n == 0 && tries > 0 {
				t.await(space+rma.Disp(i), rma.AtLeast(reads+1))
			}
		}
	}
}

// look takes messages from a ring: see lane's look.
func (t *table) look(i int, wait bool) (some bool) {
	l, lock := t.lanes[i], reading+rma.Disp(i)
	for t.cas(lock, 0, 1) != 0 {
		if !wait {
			return false
		}
		t.await(lock, rma.Is(0))
	}
	for range t.frames {
		if l.reader.Empty() {
			break
		}
		some = true
		t.take(i)
	}
	t.put(lock, 0)
	return some
}

// take reads a message, or as much as there is of it.
func (t *table) take(i int) {
	l, b := t.lanes[i], make([]byte, t.size)
	n, err := l.reader.Read(b)
	if err != nil || !bytes.Equal(b[:n], filling[l.taken:l.taken+n]) {
		panic(fmt.Sprintf("%d bytes behind %d are others than were written, %v", n, l.taken, err))
	}
	l.taken += n
	l.reads++
	t.put(space+rma.Disp(i), l.reads)
}

// all looks at all rings.
func (t *table) all(wait bool) (some bool) {
	for i := range t.lanes {
		some = t.look(i, wait) || some
	}
	return some
}

// last is all for Attention.End, with the mistakes.
func (t *table) last(wait bool) (some bool) {
	switch {
	case wait && t.broken == leaves:
		return false
	case wait && t.broken == tries:
		wait = false
	}
	return t.all(wait)
}

// work is a worker that comes, and goes to sleep or into a long body: see package books.
func (t *table) work() {
	t.attention.Begin()
	for range t.looks {
		t.all(false)
	}
	t.attention.End(t.last)
}

// listen hears the bell: see Node.listen of package p2p. It ends when all others have.
func (t *table) listen() {
	for {
		t.await(bell, rma.IsNot(0))
		if heard := t.hear(); heard&rung == 0 {
			return
		}
		t.attention.Heard(t.last)
	}
}

// hear takes from the bell's word that it was rung, and leaves that all is over.
func (t *table) hear() (heard uint64) {
	for heard = rung; ; {
		found := t.cas(bell, heard, heard&over)
		if found == heard {
			return heard
		}
		heard = found
	}
}

func (t *table) check() error {
	var errs []error
	for i, l := range t.lanes {
		if want := t.writers[i] * t.size; l.taken != want {
			errs = append(errs, fmt.Errorf("%d bytes of writer %d are taken, want %d: nobody looks at the rest", l.taken, i, want))
		}
		if times := int(t.word.Load()+1) / 2; len(l.rung) > times { // the word is odd for each time in which the node does not look
			errs = append(errs, fmt.Errorf("writer %d has rung %d times, and the node did not look in %d", i, len(l.rung), times))
		}
	}
	if t.attention.lookers != 0 {
		errs = append(errs, fmt.Errorf("%d look in the end", t.attention.lookers))
	}
	return errors.Join(errs...)
}

func (t *table) state() uint64 {
	h := uint64(14695981039346656037)
	mix := func(v uint64) { h = (h ^ v) * 0x9e3779b97f4a7c15; h ^= h >> 29 }
	for _, v := range t.eyes {
		mix(v)
	}
	mix(uint64(t.word.Load())<<32 | uint64(t.attention.lookers))
	mix(uint64(t.left))
	for _, l := range t.lanes {
		mix(l.written.Load())
		mix(l.read.Load())
		mix(l.writer.at)
		mix(l.reader.at)
		mix(uint64(l.taken)<<32 | uint64(l.writer.rung))
		mix(l.reads<<32 | uint64(len(l.rung)))
	}
	return h
}

func (g game) explored() sim.System {
	for range g.writers {
		g.memory = append(g.memory, make([]byte, Size))
	}
	return sim.System{Topology: topology.Flat(g.ranks()), Setup: g.setup, Words: int(words), MaxSteps: 1 << 16}
}

// needsProbe skips a test in a build whose rings have no steps to schedule.
func needsProbe(t *testing.T) {
	if !invariant.Enabled {
		t.Skip("an ordinary build cannot stop between the steps of a ring: go test -tags invariants, as CI does")
	}
}

// TestExhaust visits every state of small games.
func TestExhaust(t *testing.T) {
	rings.Computes(t)
	needsProbe(t)
	t.Parallel()
	for name, g := range map[string]game{
		"no worker":            {writers: []int{3}, size: 5},
		"a worker":             {writers: []int{2}, size: 5, workers: []int{1}, looks: 1},
		"a worker that leaves": {writers: []int{1}, size: 5, workers: []int{2}},
		"two workers":          {writers: []int{1}, size: 5, workers: []int{1, 1}, looks: 1},
		"two that leave":       {writers: []int{1}, size: 5, workers: []int{1, 1}},
		"two writers":          {writers: []int{1, 1}, size: 5, workers: []int{1}},
		"full":                 {writers: []int{2}, size: Size/4*3 + 1, workers: []int{1}},
		"too large":            {writers: []int{1}, size: Size + 1, workers: []int{1}, looks: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g.frames = 1
			report := g.explored().Exhaust(sim.Limit{States: states.N()})
			if err := report.Err(); err != nil {
				t.Fatal(err)
			}
			t.Logf("%d states, %d runs, complete: %t", report.States, report.Runs, report.Complete)
		})
	}
}

// TestBroken has the explorer reject games with a flaw.
func TestBroken(t *testing.T) {
	rings.Computes(t)
	needsProbe(t)
	for broken, g := range map[flaw]game{
		ringsFirst: {writers: []int{2}, size: 5},
		leaves:     {writers: []int{2}, size: 5},
		tries:      {writers: []int{1}, size: 5, workers: []int{1, 1}},
	} {
		g.frames, g.broken = 1, broken
		report := g.explored().Exhaust(sim.Limit{States: 50_000})
		if report.Err() == nil {
			t.Errorf("flaw %d is not found in %d states", broken, report.States)
		} else {
			t.Logf("flaw %d is found after %d states", broken, report.States)
		}
	}
}

// draw makes a random game.
func draw(seed uint64) game {
	rng := rand.New(rand.NewPCG(seed, 5))
	g := game{size: []int{1, 7, 7, 7, Size/4*3 + 1}[rng.IntN(5)], looks: rng.IntN(3), frames: 1 + rng.IntN(2)}
	for range 1 + rng.IntN(2) {
		g.writers = append(g.writers, 1+rng.IntN(3))
	}
	for range rng.IntN(3) {
		g.workers = append(g.workers, 1+rng.IntN(3))
	}
	return g
}

// TestSeeds plays random games under random schedules.
func TestSeeds(t *testing.T) {
	rings.Computes(t)
	needsProbe(t)
	t.Parallel()
	steps := 0
	for seed := range seeds.All() {
		report := draw(seed).explored().Seeds(seed, 1)
		steps += report.Steps
		if err := report.Err(); err != nil {
			t.Fatalf("seed %d: %v\n%+v", seed, err, draw(seed))
		}
	}
	t.Logf("%d steps", steps)
}
