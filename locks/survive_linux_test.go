package locks_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/rmatest"
	"github.com/orwl/go-orwl/net/shm"
	"github.com/orwl/go-orwl/net/topology"
)

var (
	survivalKills = rings.Size("locks.survivalkills", 3, 30, 300, "TestSurvivesKill: processes that are killed")
	firstSurvival = flag.Uint64("locks.survivalkill", 0, "TestSurvivesKill: the number of the first trial")
)

// survivalTrial is one recoverable lock that four processes of one rank each share. Some of
// them are killed, one after the other, wherever they are just then. The others go on. The
// trial's number draws everything but the schedule.
type survivalTrial struct {
	Number     uint64
	Lock       string
	Operations bool
	Machine    string
	Ranks      [4]rma.Rank
	Watcher    rma.Rank
	Kills      int       // so many die: those in front of Order
	Order      []int     // of the four
	Gaps       [4]uint64 // how many sections a victim makes after the death of the one before
	Linger     [4]int    // how long a section lingers between its two Puts
	Reads      [4]bool   // every other section reads
}

func newSurvivalTrial(number uint64, atMost int) survivalTrial {
	rng := rand.New(rand.NewPCG(number, 13))
	all := recoverable()
	k := survivalTrial{
		Number: number, Lock: all[number%uint64(len(all))].Name, Operations: rng.IntN(4) == 0,
		Machine: "core:5", Ranks: [4]rma.Rank{0, 1, 2, 3}, Watcher: 4,
		Kills: min(1+rng.IntN(3), atMost), Order: rng.Perm(4),
	}
	if rng.IntN(2) == 0 {
		k.Machine, k.Ranks, k.Watcher = "node:2 core:3", [4]rma.Rank{0, 1, 3, 4}, 5
	}
	for i := range k.Gaps {
		k.Gaps[i] = rng.Uint64N(1 << rng.IntN(10))
		k.Linger[i] = []int{0, 8, 64, 1024}[rng.IntN(4)]
		k.Reads[i] = rng.IntN(2) == 0
	}
	return k
}

// survivalMemory is what the processes of a trial share. The data and the mark are at the watcher,
// the other words at each rank.
type survivalMemory struct {
	lock     *locks.Lock
	data     rma.Disp // two words that each section makes equal
	inside   rma.Disp // the writer inside, plus one
	progress rma.Disp // the rank's sections
	stop     rma.Disp // one, if the rank ends
}

func (k survivalTrial) allocate(f *shm.Fabric) (m survivalMemory, err error) {
	spec, ok := locks.ByName(k.Lock)
	if !ok {
		return m, fmt.Errorf("no lock %q", k.Lock)
	}
	if m.lock, err = spec.New(f, locks.Options{Operations: k.Operations}); err != nil {
		return m, err
	}
	base, err := f.Alloc(5)
	m.data, m.inside, m.progress, m.stop = base, base+2, base+3, base+4
	return m, err
}

// survivalRank is the order for one of the four processes.
type survivalRank struct {
	Trial survivalTrial
	Index int
}

// survivalSaid is what a survivor tells.
type survivalSaid struct {
	Sections, Told, Half int
}

// surviveDuty acquires and releases until it is told to stop.
func surviveDuty(f *shm.Fabric, what json.RawMessage) (any, error) {
	var r survivalRank
	if err := json.Unmarshal(what, &r); err != nil {
		return nil, err
	}
	m, err := r.Trial.allocate(f)
	if err != nil {
		return nil, err
	}
	w, err := f.Window(r.Trial.Ranks[r.Index])
	if err != nil {
		return nil, err
	}
	var said survivalSaid
	l := m.lock.At(w)
	for w.Get(w.Rank(), m.stop) == 0 {
		if err := r.section(w, m, l, &said); err != nil {
			return said, fmt.Errorf("rank %d: %w", w.Rank(), err)
		}
		w.FetchOp(w.Rank(), m.progress, rma.Sum, 1)
	}
	return said, w.Err()
}

func (r survivalRank) section(w rma.Window, m survivalMemory, l locks.Mutex, said *survivalSaid) error {
	ctx := context.Background()
	k := r.Trial
	rw, reads := l.(locks.RWMutex)
	said.Sections++
	read := reads && k.Reads[r.Index] && said.Sections%2 == 0
	var err error
	if read {
		err = rw.AcquireRead(ctx)
	} else {
		err = l.Acquire(ctx)
	}
	if err != nil {
		return err
	}
	told := l.(locks.Recoverable).Prior() != nil
	if told {
		said.Told++
	}
	a, b := w.Get(k.Watcher, m.data), w.Get(k.Watcher, m.data+1)
	if a != b {
		if said.Half++; !told {
			return fmt.Errorf("sees half a section, %d and %d, and is not told", a, b)
		}
	}
	if read {
		w.Pause(k.Linger[r.Index])
		if other := w.Get(k.Watcher, m.inside); other != 0 && !told {
			return fmt.Errorf("reads beside the writer %d", other-1)
		}
		rw.ReleaseRead()
		return nil
	}
	if other := w.FetchOp(k.Watcher, m.inside, rma.Replace, uint64(w.Rank())+1); other != 0 && !told {
		return fmt.Errorf("writes beside the writer %d", other-1)
	}
	n := max(a, b) + 1
	w.Put(k.Watcher, m.data, n)
	w.Pause(k.Linger[r.Index])
	w.Put(k.Watcher, m.data+1, n)
	if other := w.FetchOp(k.Watcher, m.inside, rma.Replace, 0); other != uint64(w.Rank())+1 {
		return fmt.Errorf("finds the mark of rank %d at the end of a section", int(other)-1)
	}
	l.Release()
	return nil
}

// run plays a trial with a crew, and replaces those that it kills.
func (k survivalTrial) run(ctx context.Context, crew []*hand) (sum survivalSaid, err error) {
	tree, err := topology.Parse(k.Machine)
	if err != nil {
		return sum, err
	}
	f, err := shm.Create(shm.Options{Topology: tree, Words: 1 << 12, DynamicWords: 1, Context: ctx, Survive: true})
	if err != nil {
		return sum, err
	}
	defer f.Close()
	m, err := k.allocate(f)
	if err != nil {
		return sum, err
	}
	w, err := f.Window(k.Watcher)
	if err != nil {
		return sum, err
	}
	for i, h := range crew {
		if err := h.order(f, "survive", 0, survivalRank{k, i}); err != nil {
			return sum, err
		}
	}
	stop := context.AfterFunc(ctx, func() {
		for _, h := range crew {
			_ = h.cmd.Process.Kill()
		}
	})
	defer stop()
	// more waits until one of the four has made n sections more. The death of a process that has no
	// rank yet would go unnoticed.
	more := func(i int, n uint64) {
		p := k.Ranks[i]
		if err == nil {
			if _, err = w.Await(ctx, p, m.progress, rma.AtLeast(w.Get(p, m.progress)+n)); err != nil {
				err = fmt.Errorf("waiting for rank %d: %w", p, err)
			}
		}
	}
	for i := range crew {
		more(i, 1)
	}
	for n := range k.Kills {
		victim := k.Order[n]
		more(victim, k.Gaps[n])
		crew[victim].kill()
	}
	for _, i := range k.Order[k.Kills:] {
		more(i, 20) // the others go on
		w.Put(k.Ranks[i], m.stop, 1)
	}
	for _, i := range k.Order[k.Kills:] {
		var said survivalSaid
		if broken := crew[i].answer(&said); broken != nil && err == nil {
			err = broken
		}
		sum.Sections, sum.Told, sum.Half = sum.Sections+said.Sections, sum.Told+said.Told, sum.Half+said.Half
	}
	for i := range crew {
		if ctx.Err() == nil && i != k.Order[0] && (k.Kills < 2 || i != k.Order[1]) && (k.Kills < 3 || i != k.Order[2]) {
			continue
		}
		crew[i].kill()
		var broken error
		if crew[i], broken = newHand(); broken != nil {
			return sum, broken
		}
	}
	return sum, err
}

// TestSurvivesKill kills processes that share a recoverable lock, at any moment, up to three of four.
// The others go on: no rank sees half a section that it was not told of, and none waits for ever.
func TestSurvivesKill(t *testing.T) {
	t.Parallel()
	crew := newHands(t, 4)
	var sum survivalSaid
	trials := 0
	for killed := 0; killed < survivalKills.N(); trials++ {
		k := newSurvivalTrial(*firstSurvival+uint64(trials), survivalKills.N()-killed)
		killed += k.Kills
		ctx, cancel := context.WithTimeout(t.Context(), rmatest.Patience)
		said, err := k.run(ctx, crew)
		cancel()
		sum.Sections, sum.Told, sum.Half = sum.Sections+said.Sections, sum.Told+said.Told, sum.Half+said.Half
		if err != nil {
			t.Fatalf("%s: %v: repeat it with -locks.survivalkills %d -locks.survivalkill %d\n%+v", k.Lock, err, k.Kills, k.Number, k)
		}
	}
	t.Logf("%d processes killed in %d trials, %d sections; ranks were told %d times, and saw half a section %d times",
		survivalKills.N(), trials, sum.Sections, sum.Told, sum.Half)
}
