package worlds

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/signal"
	"slices"
	"strings"
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
	"the chair is killed while the nodes agree on the next life",
	"a process is killed while it restores a cut",
	"a buddy is killed between a copy and the whole cut",
	"a message of a former life comes late",
	"a node that was given up comes again",
	"a process comes late, and is in a life",
	"a node leaves as it was asked to",
	"a life begins from the beginning, and there was a cut",
	"a process has four lives",
	"a run goes on from its folder",
	"a run goes on from its folder on fewer nodes",
	"a run goes on from its folder on more nodes",
	"all processes are killed while one restores a cut",
	"the newest cut is damaged, and the one before is taken",
	"a disk loses what was not synced",
	"a power failure leaves a torn file",
	"the disk is full while a cut is written",
	"a process is killed while it writes a part",
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
					w := play(t, seed, "")
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

// play plays a world in a bubble. Lies says what is wrong in it: see TestControls.
func play(t *testing.T, seed uint64, lies string) (w *world) {
	synctest.Test(t, func(t *testing.T) {
		w = newWorld(seed, lies)
		w.play()
	})
	if lies == "" {
		w.report(t)
	}
	return w
}

// report has the test fail if the world complains.
func (w *world) report(t *testing.T) {
	for _, complaint := range w.complaints {
		t.Error(complaint)
	}
	if len(w.complaints) > 0 {
		t.Logf("%s", w.log.text.Bytes())
	}
}

// The length of things, in virtual time.
const (
	worldLease = 600 * time.Millisecond
	bodyTime   = 2 * time.Millisecond
	worldEnd   = 5 * time.Minute // a run that goes on for longer hangs
)

// world is a program that is started as often as all its processes are killed.
type world struct {
	seed     uint64
	rng      *rand.Rand
	net      *internet
	disks    []*disk // a process has the disk of its seat, modulo their number; none: the cuts are in memory only
	commands int     // how many more may follow
	runs     program
	lies     string                                                           // the planted fault, if any: see TestControls
	oneLife  bool                                                             // the run does not survive
	delays   func(p *process, m lives.Message, gathered string) time.Duration // how much longer a message about a cut takes, or what was gathered; nil: no longer
	interval time.Duration                                                    // see orwl.Survive
	command                                                                   // the one that goes on

	log        record // of all processes
	mu         sync.Mutex
	complaints []string
	reached    map[string]bool   // rare states
	wholes     []lives.Key       // the cuts that were whole
	times      []time.Time       // when a cut became whole that is not at the end of a run
	dropped    map[uint64]uint64 // by run: the latest life in which its cuts were dropped at its end, unless there is one of the end: see lives.Judge
	ends       map[uint64]int    // by run: the life in which its end was whole first, 0: of a command before
	damaged    string            // a file of a cut that was damaged
	over       bool              // a process of the command before had the result
	running    sync.WaitGroup
}

// command is one start of the program, with what happens to it.
type command struct {
	count  int
	gentle bool // the faults leave a quorum, one after another: the run has a result, unless all are killed
	faults []*fault

	dead      *atomic.Bool    // all processes were killed
	waits     *fault          // for an event
	changing  bool            // a node was lost, and the next life has not begun
	continues bool            // it has gone on from its folder
	copied    bool            // a cut was whole since then, so each part has two holders
	named     bool            // it has named a file that cannot be used
	addresses []string        // by seat, of the last process there
	processes []*process      // all that ever were
	begun     *sync.WaitGroup // the first life of each process of the beginning
}

// process is a node, until it ends.
type process struct {
	world   *world
	seat    int
	sockets *endpoint
	late    bool
	cancel  context.CancelFunc

	mu       sync.Mutex
	lines    int64          // of the log, until reached is closed
	reached  chan struct{}  // nil: nothing waits for that
	stopped  chan struct{}  // closed when it goes on; nil: it runs
	channels uint64         // of the latest life
	copied   lives.Key      // the latest cut that it has a copy from
	records  map[int][]byte // by task: the last one that has come, in a world with the lie "versions"

	killed, left, disturbed, restoring atomic.Bool  // a fault has done that; it restores a cut
	told                               atomic.Bool  // its launcher knows that the run goes on when a node is lost
	large                              atomic.Bool  // it cannot send records
	leave                              func() bool  // asks it to leave
	ran                                atomic.Int64 // for how long bodies have computed, in nanoseconds
	lives                              int
	agrees                             bool // a life has ended here, and the next one has not begun
	done                               bool // the program has ended well
	err                                error
}

func newCommand(count int, gentle bool, faults ...*fault) command {
	return command{count: count, gentle: gentle, faults: faults, dead: new(atomic.Bool), begun: new(sync.WaitGroup), addresses: make([]string, count)}
}

func newWorld(seed uint64, lies string) *world {
	w := &world{seed: seed, lies: lies, rng: rand.New(rand.NewPCG(seed, 2)), net: newInternet(seed), reached: make(map[string]bool), interval: 20 * time.Millisecond}
	w.runs = programs[w.rng.IntN(len(programs))](w.rng)
	if w.rng.IntN(2) == 0 || lies != "" {
		for i := range 1 + w.rng.IntN(2)*w.rng.IntN(3) {
			d := newDisk(seed + uint64(i)<<32)
			d.lies = lies
			w.disks = append(w.disks, d)
		}
		w.commands = w.rng.IntN(3)
	}
	return w
}

// play plays the world, and judges it.
func (w *world) play() {
	for more := w.plays(w.draw(true)); more && w.commands > 0; {
		w.commands--
		more = w.plays(w.draw(false))
	}
}

// plays plays a command, and reports whether another one may go on with what this one has left on the disks.
func (w *world) plays(c command) (more bool) {
	before := w.count
	w.command, w.dropped, w.ends = c, make(map[uint64]uint64), make(map[uint64]int)
	damaged := before > 0 && w.damage()
	if c.count < len(w.disks) || w.over {
		w.wholes = nil // no process sees all of their parts, or they were about to be removed
	}
	for _, k := range w.wholes {
		if k.Round == lives.End && k.Run != cutOf(w.damaged).Run { // an end of an earlier life may have been removed
			w.ends[k.Run] = 0
		}
	}
	from := w.newest()
	w.once()
	results := w.judge(from, damaged)
	w.reach(w.continues && w.count < before, "a run goes on from its folder on fewer nodes")
	w.reach(w.continues && w.count > before, "a run goes on from its folder on more nodes")
	return results == 0 && w.dead.Load()
}

// once plays one command.
func (w *world) once() {
	w.begun.Add(w.count)
	w.begin()
	w.begun.Wait() // a launcher ends all if a node fails before
	over, ended, struck := make(chan struct{}), make(chan struct{}), make(chan struct{})
	go func() {
		w.strikeAll(over)
		close(struck)
	}()
	go func() {
		w.running.Wait()
		close(over)
		<-struck
		w.running.Wait() // for what the last fault has begun
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(worldEnd):
		panic(fmt.Sprintf("%v: after %v this run goes on:\n%s", w, worldEnd, w.log.text.Bytes())) // the bubble would never end
	}
}

func (w *world) String() string {
	return fmt.Sprintf("world %d, %d nodes, %d disks, %v, faults %v", w.seed, w.count, len(w.disks), w.runs, w.faults)
}

// complain notes what must not be. w.mu is not held.
func (w *world) complain(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.complains(format, args...)
}

// complains is complain with w.mu held.
func (w *world) complains(format string, args ...any) {
	w.complaints = append(w.complaints, fmt.Sprintf("%v: %s", w, fmt.Sprintf(format, args...)))
}

// begin starts the processes of the beginning.
func (w *world) begin() {
	root := make(chan string, 1)
	w.start(&process{seat: 0}, launch.Place{}, func(a string) { root <- a })
	if w.count == 1 {
		return
	}
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
	p.world, p.sockets = w, w.net.endpoint(p.seat)
	var ctx context.Context
	ctx, p.cancel = context.WithCancel(context.Background())
	w.mu.Lock()
	w.processes = append(w.processes, p)
	w.mu.Unlock()
	place.Node, place.Nodes, place.Key = p.seat, w.count, []byte("the key of the worlds, 32 bytes.")
	if place.Listen == "" {
		place.Listen = p.sockets.address()
	}
	place.Report = func(address string) error {
		w.mu.Lock()
		w.addresses[p.seat] = address
		w.mu.Unlock()
		listens(address)
		return nil
	}
	place.GoOn = func() error {
		p.told.Store(true)
		return nil
	}
	log := slog.New(&journal{p, slog.NewTextHandler(&w.log, &slog.HandlerOptions{Level: slog.LevelDebug}).WithAttrs([]slog.Attr{slog.Int("seat", p.seat)})})
	o := orwl.Options{Log: log, Survive: orwl.Survive{Interval: w.interval, Off: w.oneLife}, Join: orwl.JoinOptions{
		Place: &place, Lease: worldLease, Remote: true, Network: network{nodes.Network{Carrier: p2ptest.Carrier(p.sockets)}, p}, Log: log,
	}}
	inner.Computes(&o, p.ran.Load)
	if n := len(w.disks); n > 0 {
		inner.KeepCuts(&o, mount{w.disks[p.seat%n], p})
	}
	begun := w.begun
	w.running.Go(func() {
		defer p.cancel()
		p.err = orwl.Run(ctx, o, func(ctx context.Context, rt *orwl.Runtime) error {
			p.done = false
			if p.lives++; p.lives == 1 && !p.late {
				begun.Done()
			}
			p.isAgreeing(false)
			err := w.runs.run(ctx, rt, p)
			p.done = err == nil
			if p.isAgreeing(err != nil); err != nil {
				w.happens(p, "agree")
			}
			return err
		})
		p.isAgreeing(false)
	})
}

// isAgreeing notes whether a life has ended here, and the next one has not begun.
func (p *process) isAgreeing(is bool) {
	p.world.mu.Lock()
	defer p.world.mu.Unlock()
	p.agrees = is
}

// errBits is a result that differs from the one of an undisturbed run.
var errBits = errors.New("the bits are wrong")

// at is the last process in a seat.
func (w *world) at(seat int) *process {
	for _, p := range slices.Backward(w.all()) {
		if p.seat == seat {
			return p
		}
	}
	return nil
}

// all are all processes of the command.
func (w *world) all() []*process {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.processes)
}

// reach notes a rare state, if it is one.
func (w *world) reach(is bool, state string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if is {
		w.reached[state] = true
	}
}

// seniorSeat is the seat of the process that is first in all agreements: of those that live, the first one of the beginning.
func (w *world) seniorSeat() int {
	for seat := range w.count {
		if p := w.at(seat); !p.late && !p.killed.Load() {
			return seat
		}
	}
	return 0
}

// isWhole notes a whole cut. A node may hear of it when others have dropped it. w.mu is held.
func (w *world) isWhole(life uint64, k lives.Key) {
	w.copied = true
	if (k.Round == lives.End || w.dropped[k.Run] < life) && !slices.Contains(w.wholes, k) {
		w.wholes = append(w.wholes, k)
		if _, again := w.ends[k.Run]; k.Round == lives.End && !again {
			w.ends[k.Run] = int(life)
		}
		if k.Round < lives.End {
			w.times = append(w.times, time.Now())
		}
	}
}

// drops notes that a node has dropped the cuts of a run. w.mu is held.
func (w *world) drops(life, run uint64) {
	w.dropped[run] = max(w.dropped[run], life)
	w.wholes = slices.DeleteFunc(w.wholes, func(k lives.Key) bool { return k.Run == run && k.Round != lives.End })
}

// newest is the whole cut in which the program is furthest. w.mu is held, or no process lives.
func (w *world) newest() (k lives.Key) {
	for _, of := range w.wholes {
		if of.Compare(k) > 0 {
			k = of
		}
	}
	return k
}

// beginsFrom judges the cut from which a life begins. Keeps says that no node was lost that had the only copy of a part. w.mu is held.
func (w *world) beginsFrom(k lives.Key, keeps bool) {
	last := w.newest()
	k.Life = last.Life
	if (keeps || len(w.disks) == 1) && k.Compare(last) < 0 {
		w.complains("a life begins from %v, and %v was whole", k, last)
	}
}

// isIn is called by the bodies of a run. None of them runs in a life behind the one in which the end of its run was whole.
func (w *world) isIn(rt *orwl.Runtime, run int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if life, is := w.ends[uint64(run)]; is && rt.Life() > life && (len(w.disks) == 1 || w.isSafe()) {
		w.complains("the end of run %d was whole in life %d, and it runs again in life %d", run, life, rt.Life())
	}
}

// isSafe reports whether no node is lost that has the only copy of a part. w.mu is held.
func (w *world) isSafe() bool { return w.gentle && (w.copied || !w.continues) }

// damage damages the newest cut on disk between two commands, at random. It reports whether it has.
func (w *world) damage() bool {
	if w.damaged != "" || w.rng.IntN(2) == 0 {
		return false
	}
	k := w.newest()
	for _, d := range w.disks {
		if w.damaged = d.damage(k); w.damaged != "" {
			w.wholes = slices.DeleteFunc(w.wholes, func(of lives.Key) bool { return of == k })
			return true
		}
	}
	return false
}

// judge complains about what must not be, and returns how many processes have the result. The command had to begin from a cut.
func (w *world) judge(from lives.Key, damaged bool) (results int) {
	left := false
	for _, p := range w.processes {
		w.over = w.over || p.done
		left = left || p.killed.Load() || p.left.Load() || p.disturbed.Load()
		w.reach(p.late && p.lives > 0, "a process comes late, and is in a life")
		w.reach(p.left.Load() && !p.done && p.err == nil, "a node leaves as it was asked to")
		w.reach(p.lives >= 4, "a process has four lives")
		hopeless := w.damaged != "" && (from == (lives.Key{}) || w.count < len(w.disks)) // no other cut can be used
		switch {
		case errors.Is(p.err, errBits):
			w.complain("node %d: %v", p.seat, p.err)
		case p.done && p.err == nil:
			if results++; !p.told.Load() && !w.oneLife {
				w.complain("node %d has not told its launcher that the run goes on when a node is lost", p.seat)
			}
		case hopeless && strings.Contains(fmt.Sprint(p.err), "no cut in the folder"):
		case w.gentle && w.count != 2 && !w.dead.Load() && !p.killed.Load() && !p.left.Load() && !p.disturbed.Load() && !p.late: // one of two nodes is no quorum
			w.complain("node %d has no result: %v", p.seat, p.err)
		}
	}
	if w.gentle && !w.dead.Load() && results == 0 && w.damaged == "" && w.count > 1 {
		w.complain("no node has a result")
	}
	if w.count < len(w.disks) {
		return results
	}
	if results > 0 && from != (lives.Key{}) && !w.continues {
		w.complain("the command begins anew, and %v was whole", from)
	}
	if damaged && !w.named && results > 0 {
		w.complain("nobody names the damaged file")
	}
	w.reach(damaged && w.continues && results > 0, "the newest cut is damaged, and the one before is taken")
	for i, d := range w.disks {
		parts := slices.DeleteFunc(d.parts(), func(name string) bool { return name == w.damaged }) // it may seem to be of another program
		if results > 0 && !left && len(parts) > 0 {
			w.complain("the run has ended, and disk %d has %v", i, parts)
		}
	}
	return results
}
