package worlds

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/signal"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/orwl/go-orwl/internal/inner"
	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/net/p2p/p2ptest"
	"github.com/orwl/go-orwl/orwl"
	"github.com/orwl/go-orwl/orwl/internal/lives"
	"github.com/orwl/go-orwl/orwl/launch"
	"github.com/orwl/go-orwl/orwl/nodes"
	"github.com/orwl/go-orwl/orwl/stencil"
	"github.com/orwl/go-orwl/resource"
)

var worlds = rings.Seeds("worlds", 20, 16_000, "TestWorlds: seeds to play")

// The first call for signals starts goroutines that never end. Started here, they are in no bubble.
func TestMain(m *testing.M) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt)
	signal.Stop(signals)
	goleak.VerifyTestMain(m)
}

// rareStates are those that some of the worlds must reach.
var rareStates = []string{
	"a process is killed while the lives change",
	"the senior process is killed while the lives change",
	"a node that was given up comes again",
	"a process comes late, and is in a life",
	"a node leaves as it was asked to",
	"a life begins from the beginning, and there was a cut",
	"a process has five lives",
}

// enoughWorlds are so many that each rare state is among them.
const enoughWorlds = 900

// TestWorlds plays seeds.
func TestWorlds(t *testing.T) {
	rings.Computes(t)
	const parts = 4
	var mu sync.Mutex
	played, reached := 0, make(map[string]int)
	t.Run("parts", func(t *testing.T) {
		for part := range uint64(parts) {
			t.Run(fmt.Sprint(part), func(t *testing.T) {
				t.Parallel()
				for seed := range worlds.All() {
					if t.Failed() || seed%parts != part {
						continue
					}
					var w *world
					synctest.Test(t, func(t *testing.T) {
						w = newWorld(t, seed)
						w.play()
					})
					mu.Lock()
					played++
					for state := range w.reached {
						reached[state]++
					}
					mu.Unlock()
				}
			})
		}
	})
	for _, state := range rareStates {
		t.Logf("%d of %d worlds: %s", reached[state], played, state)
		if reached[state] == 0 && played >= enoughWorlds {
			t.Errorf("no world of %d: %s", played, state)
		}
	}
}

// The length of things, in virtual time.
const (
	worldLease = 600 * time.Millisecond
	bodyTime   = 2 * time.Millisecond
	worldEnd   = 5 * time.Minute // a run that goes on for longer hangs
)

type world struct {
	t      *testing.T
	seed   uint64
	rng    *rand.Rand
	net    *p2ptest.World
	count  int
	runs   program
	faults []*fault
	gentle bool // the faults leave a quorum, one after another: the run has a result

	log       record // of all processes
	mu        sync.Mutex
	reached   map[string]bool // rare states
	changing  bool            // a node was lost, and the next life has not begun
	whole     uint64          // the round of the newest cut
	addresses []string        // by seat, of the last process there
	processes []*process      // all that ever were
	running   sync.WaitGroup
	begun     sync.WaitGroup // the first life of each process of the beginning
}

// process is a node, until it ends.
type process struct {
	world   *world
	seat    int
	sockets *p2ptest.Process
	late    bool

	mu      sync.Mutex
	lines   int64         // of the log, until reached is closed
	reached chan struct{} // nil: nothing waits for that

	killed, left, disturbed atomic.Bool // a fault has done that
	lives                   int
	done                    bool // the program has ended well
	err                     error
}

// fault is what happens once, after the fault before it.
type fault struct {
	kind   string // kill, stop, cut, alone, leave
	seat   int
	peer   int           // of a cut
	length time.Duration // of a stop or a cut; behind a kill, until another process takes the seat; 0: none does
	after  time.Duration // the fault before, or the beginning
	line   int64         // of the seat's log after the fault before; 0: at a time
}

func (f *fault) String() string {
	text := fmt.Sprintf("%s %d", f.kind, f.seat)
	if f.kind == "cut" {
		text += fmt.Sprintf("-%d", f.peer)
	}
	if f.line > 0 {
		text += fmt.Sprintf(" at line %d", f.line)
	} else {
		text += fmt.Sprintf(" after %v", f.after)
	}
	return text + fmt.Sprintf(" for %v", f.length)
}

func newWorld(t *testing.T, seed uint64) *world {
	w := &world{t: t, seed: seed, rng: rand.New(rand.NewPCG(seed, 2)), net: p2ptest.NewWorld(seed), reached: make(map[string]bool)}
	w.count = 2 + w.rng.IntN(4)
	w.addresses = make([]string, w.count)
	w.runs = programs[w.rng.IntN(len(programs))](w.rng)
	w.gentle = w.rng.IntN(2) == 0
	w.drawFaults()
	return w
}

// drawFaults draws what happens. The first fault comes while the program runs. Others may come while the run gets over the one before.
func (w *world) drawFaults() {
	within := func(d time.Duration) time.Duration { return time.Duration(w.rng.Int64N(int64(d))) }
	kinds := []string{"kill", "kill", "kill", "stop", "cut", "alone", "leave"}
	for i := range 1 + w.rng.IntN(4) {
		f := &fault{kind: kinds[w.rng.IntN(len(kinds))], seat: w.rng.IntN(w.count), length: 100*time.Millisecond + within(3*time.Second)}
		f.peer = (f.seat + 1 + w.rng.IntN(w.count-1)) % w.count
		if f.kind == "kill" && w.rng.IntN(2) == 0 {
			f.length = 0
		}
		switch {
		case w.rng.IntN(2) == 0:
			f.line = 1 + w.rng.Int64N(25)
		case i == 0:
			f.after = within(w.runs.lasts())
		case w.rng.IntN(2) == 0:
			f.after = within(100 * time.Millisecond) // so long it takes until others notice a kill
		default:
			f.after = within(2 * worldLease)
		}
		w.faults = append(w.faults, f)
		if w.gentle {
			return
		}
	}
}

// play plays the world, and judges it.
func (w *world) play() {
	began := time.Now()
	over := make(chan struct{})
	w.begun.Add(w.count)
	w.begin()
	w.begun.Wait() // a launcher ends all if a node fails before
	go w.strikeAll(over)
	ended := make(chan struct{})
	go func() {
		w.running.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(worldEnd):
		w.complain("after %v this run goes on", time.Since(began))
		panic(fmt.Sprintf("world %d, faults %v, hangs:\n%s", w.seed, w.faults, w.log.text.Bytes())) // the bubble would never end
	}
	close(over)
	w.judge()
}

func (w *world) complain(format string, args ...any) {
	w.t.Errorf("world %d, %d nodes, %v, faults %v: %s", w.seed, w.count, w.runs, w.faults, fmt.Sprintf(format, args...))
}

// begin starts the processes of the beginning.
func (w *world) begin() {
	root := make(chan string, 1)
	w.start(&process{seat: 0}, launch.Place{}, func(a string) { root <- a })
	at := <-root
	for seat := 1; seat < w.count; seat++ {
		w.start(&process{seat: seat}, launch.Place{Root: at}, func(string) {})
	}
}

// again starts another process in a seat.
func (w *world) again(seat int) {
	w.mu.Lock()
	peers := slices.Clone(w.addresses)
	w.mu.Unlock()
	place := launch.Place{Late: true, Peers: peers, Listen: peers[seat]}
	if seat > 0 {
		place.Root = peers[0]
	}
	w.start(&process{seat: seat, late: true}, place, func(string) {})
}

// start starts a process.
func (w *world) start(p *process, place launch.Place, listens func(string)) {
	p.world, p.sockets = w, w.net.Process(p.seat)
	w.mu.Lock()
	w.processes = append(w.processes, p)
	w.mu.Unlock()
	place.Node, place.Nodes, place.Key = p.seat, w.count, []byte("the key of the worlds, 32 bytes.")
	if place.Listen == "" {
		place.Listen = p.sockets.Address()
	}
	place.Report = func(address string) error {
		w.mu.Lock()
		w.addresses[p.seat] = address
		w.mu.Unlock()
		listens(address)
		return nil
	}
	log := slog.New(&journal{p, slog.NewTextHandler(&w.log, &slog.HandlerOptions{Level: slog.LevelDebug}).WithAttrs([]slog.Attr{slog.Int("seat", p.seat)})})
	o := orwl.Options{Log: log, Survive: orwl.Survive{Interval: 20 * time.Millisecond}, Join: orwl.JoinOptions{
		Place: &place, Lease: worldLease, Remote: true, Network: nodes.Network{Carrier: p.sockets.Carrier()}, Log: log,
	}}
	w.running.Go(func() {
		p.err = orwl.Run(context.Background(), o, func(ctx context.Context, rt *orwl.Runtime) error {
			p.done = false
			if p.lives++; p.lives == 1 && !p.late {
				w.begun.Done()
			}
			err := w.runs.run(ctx, rt, p)
			p.done = err == nil
			return err
		})
	})
}

// errBits is a result that differs from the one of an undisturbed run.
var errBits = errors.New("the bits are wrong")

// strikeAll does what the faults say, one after another, until the world is over.
func (w *world) strikeAll(over <-chan struct{}) {
	for _, f := range w.faults {
		var at <-chan time.Time
		line := make(chan struct{})
		if f.line > 0 {
			w.at(f.seat).watch(f.line, line)
		} else {
			at = time.After(f.after)
		}
		select {
		case <-at:
		case <-line:
		case <-over:
			return
		}
		w.strike(f)
	}
}

// watch closes reached after so many lines of the log.
func (p *process) watch(lines int64, reached chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lines, p.reached = lines, reached
}

// strike does what a fault says.
func (w *world) strike(f *fault) {
	p := w.at(f.seat)
	switch f.kind {
	case "kill":
		w.mu.Lock()
		changing := w.changing
		w.changing = true
		w.mu.Unlock()
		w.reach(changing, "a process is killed while the lives change")
		w.reach(changing && w.senior(p), "the senior process is killed while the lives change")
		p.kill(f.length)
	case "leave":
		p.left.Store(true) // its next body asks
	case "stop":
		p.disturbed.Store(true)
		p.sockets.Stop()
		w.later(f.length, p.sockets.Continue)
	case "cut":
		w.cut(f.seat, f.peer, f.length)
	case "alone":
		for peer := range w.count {
			if peer != f.seat {
				w.cut(f.seat, peer, f.length)
			}
		}
	}
}

// cut lets nothing pass between two nodes for some time.
func (w *world) cut(a, b int, length time.Duration) {
	w.at(a).disturbed.Store(true)
	w.at(b).disturbed.Store(true)
	w.net.Cut(a, b)
	w.later(length, func() { w.net.Heal(a, b) })
}

// kill ends the process at once. Another one takes its seat later, unless the time is 0.
func (p *process) kill(later time.Duration) {
	if p.killed.Swap(true) {
		return
	}
	p.sockets.Kill()
	if later > 0 {
		p.world.later(later, func() { p.world.again(p.seat) })
	}
}

// later calls f. The world waits for it.
func (w *world) later(d time.Duration, f func()) {
	w.running.Go(func() {
		<-time.After(d)
		f()
	})
}

// at is the last process in a seat.
func (w *world) at(seat int) *process {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range slices.Backward(w.processes) {
		if p.seat == seat {
			return p
		}
	}
	return nil
}

// reach notes a rare state, if it is one.
func (w *world) reach(is bool, state string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if is {
		w.reached[state] = true
	}
}

// senior reports whether no process before that one lives.
func (w *world) senior(p *process) bool {
	for seat := range p.seat {
		if !w.at(seat).killed.Load() {
			return false
		}
	}
	return true
}

// judge complains about what must not be.
func (w *world) judge() {
	results := 0
	for _, p := range w.processes {
		w.reach(p.late && p.lives > 0, "a process comes late, and is in a life")
		w.reach(p.left.Load() && !p.done && p.err == nil, "a node leaves as it was asked to")
		w.reach(p.lives >= 5, "a process has five lives")
		switch {
		case errors.Is(p.err, errBits):
			w.complain("node %d: %v", p.seat, p.err)
		case p.done && p.err == nil:
			results++
		case w.gentle && w.count > 2 && !p.killed.Load() && !p.left.Load() && !p.disturbed.Load() && !p.late: // one of two nodes is no quorum
			w.complain("node %d has no result: %v", p.seat, p.err)
		}
	}
	if w.gentle && results == 0 {
		w.complain("no node has a result")
	}
	if w.t.Failed() {
		w.t.Logf("%s", w.log.text.Bytes())
	}
}

// journal is the log of a process. Faults may come at a line of it.
type journal struct {
	p    *process
	text slog.Handler
}

// Enabled implements slog.Handler.
func (j *journal) Enabled(context.Context, slog.Level) bool { return true }

// Handle implements slog.Handler.
func (j *journal) Handle(ctx context.Context, r slog.Record) error {
	if r.Message == "node is not reached" { // which is said too often
		return nil
	}
	_ = j.text.Handle(ctx, r)
	if !j.p.killed.Load() { // else it knows nothing of the others
		j.p.world.hears(r)
	}
	j.p.mu.Lock()
	defer j.p.mu.Unlock()
	if j.p.lines--; j.p.lines == 0 && j.p.reached != nil {
		close(j.p.reached)
		j.p.reached = nil
	}
	return nil
}

// record keeps what the processes say.
type record struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements io.Writer.
func (r *record) Write(line []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.Write(line)
}

// hears notes what a process says. A life begins from the last whole cut, or a later one, if one node is lost.
func (w *world) hears(r slog.Record) {
	round := uint64(0)
	r.Attrs(func(a slog.Attr) bool {
		switch a.Key {
		case "cut":
			round = a.Value.Any().(lives.Key).Round
		case "round":
			round = a.Value.Uint64()
		case "from":
			round = lives.End // of the only run
		}
		return true
	})
	w.mu.Lock()
	defer w.mu.Unlock()
	switch r.Message {
	case "node lost":
		w.changing = true
	case "orwl: this node comes again":
		w.reached["a node that was given up comes again"] = true
	case "orwl: a cut is whole":
		w.whole = max(w.whole, round)
	case "orwl: the run goes on":
		w.changing = false
		if round == 0 && w.whole > 0 {
			w.reached["a life begins from the beginning, and there was a cut"] = true
		}
		if w.gentle && round < w.whole {
			w.complain("a life begins from round %d, and the cut of round %d was whole", round, w.whole)
		}
	}
}

// WithAttrs implements slog.Handler.
func (j *journal) WithAttrs(a []slog.Attr) slog.Handler { return &journal{j.p, j.text.WithAttrs(a)} }

// WithGroup implements slog.Handler.
func (j *journal) WithGroup(name string) slog.Handler { return &journal{j.p, j.text.WithGroup(name)} }

// program is what the nodes of a world run.
type program interface {
	run(ctx context.Context, rt *orwl.Runtime, p *process) error
	lasts() time.Duration // about so long, if nothing happens
}

var programs = []func(rng *rand.Rand) program{newRing, newGrid}

// works lets the time of a body pass, and has its node leave if a fault asked for that.
func (p *process) works(rt *orwl.Runtime) {
	<-time.After(bodyTime)
	if p.left.Load() && !p.killed.Load() {
		inner.OfRuntime(rt).Leave()
	}
}

// ring is a program of tasks in a ring. Each mixes its left neighbour's number into its own one, and all of them fold theirs into one. Some end early.
type ring struct {
	rounds []int // by task
}

func newRing(rng *rand.Rand) program {
	r := ring{rounds: make([]int, 2+rng.IntN(6))}
	most := 30 + rng.IntN(100)
	for i := range r.rounds {
		r.rounds[i] = most
		if rng.IntN(3) == 0 {
			r.rounds[i] = 1 + rng.IntN(most)
		}
	}
	return r
}

func (r ring) lasts() time.Duration {
	bodies := 0
	for _, n := range r.rounds {
		bodies += n
	}
	return time.Duration(bodies) * bodyTime
}

func (r ring) mix(task, round int, left, own uint64) uint64 {
	return own*31 + left*7 + uint64(task*1000+round)
}

func (r ring) run(ctx context.Context, rt *orwl.Runtime, p *process) error {
	all := orwl.Array[uint64](rt, "all", 1)
	numbers := make([]*resource.Resource, len(r.rounds))
	for i := range numbers {
		numbers[i] = orwl.Array[uint64](rt, fmt.Sprint("number ", i), 1)
	}
	for i, rounds := range r.rounds {
		task := rt.Task(fmt.Sprint("task ", i))
		left := orwl.Reads[uint64](task, numbers[(i+len(numbers)-1)%len(numbers)])
		own, sum := orwl.Writes[uint64](task, numbers[i]), orwl.Writes[uint64](task, all)
		task.Each(slices.Max(r.rounds), func(round int) error {
			p.works(rt)
			own.Slice()[0] = r.mix(i, round, left.View().At(0), own.Slice()[0])
			sum.Slice()[0] = sum.Slice()[0]*3 + own.Slice()[0]
			if round+1 == rounds {
				task.Last()
			}
			return nil
		})
	}
	if err := rt.Run(ctx); err != nil {
		return err
	}
	got, err := orwl.Values[uint64](ctx, all)
	if err == nil && got[0] != r.want() {
		err = fmt.Errorf("%w: %d instead of %d", errBits, got[0], r.want())
	}
	return err
}

// want is what all have folded in the end.
func (r ring) want() (sum uint64) {
	numbers := make([]uint64, len(r.rounds))
	for round := range slices.Max(r.rounds) {
		for i := range numbers {
			if round < r.rounds[i] {
				numbers[i] = r.mix(i, round, numbers[(i+len(numbers)-1)%len(numbers)], numbers[i])
				sum = sum*3 + numbers[i]
			}
		}
	}
	return sum
}

// grid is a plate of some blocks, which ends when it changes little.
type grid struct{ side, blocks, sweeps int }

func newGrid(rng *rand.Rand) program {
	return grid{6 + rng.IntN(20), 2 + rng.IntN(2), 50 + rng.IntN(300)}
}

func (g grid) lasts() time.Duration { return time.Duration(g.sweeps) * bodyTime }

func (g grid) run(ctx context.Context, rt *orwl.Runtime, p *process) error {
	plate := stencil.New(rt, stencil.Options{Size: stencil.Size{g.side, g.side}, Blocks: stencil.Size{g.blocks, g.blocks}})
	u := stencil.NewField(plate, "u", stencil.FieldOptions[float64]{Halo: stencil.Around(1), Initial: func(at []int) float64 {
		return float64(at[0]*7+at[1]*3) / 16
	}})
	err := plate.Sweep(g.sweeps, func(b *stencil.Block) {
		p.works(rt)
		for r := range b.Rows() {
			to, north, west := u.New(r), u.Old(r, -1, 0), u.Old(r, 0, -1)
			for i, v := range u.Old(r) {
				to[i] = (v + north[i] + west[i]) / 3
			}
		}
	})
	if err != nil {
		return err
	}
	if err := rt.Run(ctx); err != nil {
		return err
	}
	if err := plate.Verify(ctx); err != nil {
		return fmt.Errorf("%w: %w", errBits, err)
	}
	return nil
}
