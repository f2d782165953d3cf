package locks_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/rmatest"
	"github.com/orwl/go-orwl/net/shm"
	"github.com/orwl/go-orwl/net/topology"
)

var (
	kills     = rings.Size("locks.kills", 4, 30, 480, "TestKilledAmongFour: trials, each of which kills a process")
	firstKill = flag.Uint64("locks.kill", 0, "TestKilledAmongFour: the number of the first trial")
)

// killTrial is one lock that four processes of one rank each share. One of the processes is
// killed. The trial's number draws everything except the schedule.
//
// Each process looks after the others every 100 ms, from the moment on at which it opened
// the fabric. So the window of each survivor fails at a moment of its own. A section may be
// under way at that moment. Its rest is then dropped. No rank may enter after it: a rank
// whose window is still good would see half a section.
type killTrial struct {
	Number     uint64
	Lock       string
	Operations bool
	Machine    string
	Ranks      [4]rma.Rank
	Victim     int // one of the four
	Watcher    rma.Rank
	After      [4]time.Duration // when the processes open the fabric
	Kill       uint64           // after how many sections
	Away       int              // how long the victim stays away between two sections, or
	Leaves     int              // after how many it does not come back
	Linger     int              // how long a section lingers between two Puts
	Words      int              // the words that a section writes
}

// killedWords are the most words that a section writes.
const killedWords = 8

func newKillTrial(number uint64) killTrial {
	rng := rand.New(rand.NewPCG(number, 7))
	all := locks.All()
	k := killTrial{
		Number: number, Lock: all[number%uint64(len(all))].Name, Operations: rng.IntN(4) == 0,
		Machine: "core:5", Ranks: [4]rma.Rank{0, 1, 2, 3}, Watcher: 4,
		Victim: rng.IntN(4), Kill: 1 << rng.IntN(12), Linger: []int{1, 8, 64, 256}[rng.IntN(4)], Words: []int{2, killedWords}[rng.IntN(2)],
		Leaves: 1 << 30,
	}
	if rng.IntN(2) == 0 {
		k.Machine, k.Ranks, k.Watcher = "node:2 core:3", [4]rma.Rank{0, 1, 3, 4}, 5
	}
	k.Kill += rng.Uint64N(k.Kill)
	for i := range k.After {
		k.After[i] = time.Duration(rng.IntN(100)) * time.Millisecond
	}
	// A victim that wants the lock when it dies stops the others at once. More is seen if the
	// others go on, so the victim often stays away.
	switch rng.IntN(4) {
	case 0:
	case 1:
		k.Away = 1 << rng.IntN(12)
	default:
		k.Leaves = rng.IntN(4)
	}
	return k
}

// killedMemory is what the processes of a trial share.
type killedMemory struct {
	lock           *locks.Lock
	data, progress rma.Disp
	present        rma.Disp // counts the processes that have their rank
}

func (k killTrial) allocate(f *shm.Fabric) (m killedMemory, err error) {
	spec, ok := locks.ByName(k.Lock)
	if !ok {
		return m, fmt.Errorf("no lock %q in the table", k.Lock)
	}
	if m.lock, err = spec.New(f, locks.Options{Operations: k.Operations}); err != nil {
		return m, err
	}
	if m.data, err = f.Alloc(killedWords); err != nil {
		return m, err
	}
	if m.present, err = f.Alloc(1); err != nil {
		return m, err
	}
	m.progress, err = f.Alloc(1)
	return m, err
}

// killedRank is the order for one of the four processes.
type killedRank struct {
	Trial killTrial
	Index int
}

// killedSaid is what a survivor tells.
type killedSaid struct {
	Sections int
	Cut      bool // its window failed during a section
}

// killedDuty acquires and releases until the window fails.
func killedDuty(f *shm.Fabric, what json.RawMessage) (any, error) {
	var r killedRank
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
	w.FetchOp(r.Trial.Watcher, m.present, rma.Sum, 1)
	return r.contend(w, m)
}

func (r killedRank) contend(w rma.Window, m killedMemory) (said killedSaid, err error) {
	k, ctx := r.Trial, context.Background()
	l := m.lock.At(w)
	rw, reads := l.(locks.RWMutex)
	rng := rand.New(rand.NewPCG(k.Number, uint64(100+r.Index)))
	for {
		if r.Index == k.Victim {
			for range k.Away {
				w.Pause(64)
			}
			if said.Sections == k.Leaves {
				<-ctx.Done() // until it is killed
			}
		}
		read := reads && rng.IntN(2) == 0
		if read {
			err = rw.AcquireRead(ctx)
		} else {
			err = l.Acquire(ctx)
		}
		if err != nil {
			return said, lost(err)
		}
		if err := r.section(w, m.data, read); err != nil {
			return said, err
		}
		w.FetchOp(k.Watcher, m.progress, rma.Sum, 1)
		said.Sections, said.Cut = said.Sections+1, w.Err() != nil
		if read {
			rw.ReleaseRead()
		} else {
			l.Release()
		}
	}
}

// section reads the words, which are equal after a whole section, and changes them.
func (r killedRank) section(w rma.Window, data rma.Disp, read bool) error {
	home := r.Trial.Ranks[0]
	var seen [killedWords]uint64
	for i := range r.Trial.Words {
		seen[i] = w.Get(home, data+rma.Disp(i))
	}
	if w.Err() != nil {
		return nil // a window that has failed answers zero
	}
	for _, v := range seen[:r.Trial.Words] {
		if v != seen[0] {
			return fmt.Errorf("rank %d sees half a section: %v", w.Rank(), seen[:r.Trial.Words])
		}
	}
	if read {
		return nil
	}
	for i := range r.Trial.Words {
		w.Put(home, data+rma.Disp(i), seen[0]+1)
		w.Pause(r.Trial.Linger)
	}
	return nil
}

// run is one trial. A process that ended is replaced. When ctx ends, all are killed.
func (k killTrial) run(ctx context.Context, crew []*hand) (said [4]killedSaid, err error) {
	tree, err := topology.Parse(k.Machine)
	if err != nil {
		return said, err
	}
	f, err := shm.Create(shm.Options{Topology: tree, Words: 1 << 12, DynamicWords: 1, Context: ctx})
	if err != nil {
		return said, err
	}
	defer f.Close()
	m, err := k.allocate(f)
	if err != nil {
		return said, err
	}
	w, err := f.Window(k.Watcher)
	if err != nil {
		return said, err
	}
	for i, h := range crew {
		if err := h.order(f, "killed", k.After[i], killedRank{k, i}); err != nil {
			return said, err
		}
	}
	stop := context.AfterFunc(ctx, func() {
		for _, h := range crew {
			_ = h.cmd.Process.Kill()
		}
	})
	defer stop()
	// The loss of a process without a rank would be noticed by no other process.
	_, coming := w.Await(ctx, k.Watcher, m.present, rma.Is(uint64(len(crew))))
	_, busy := w.Await(ctx, k.Watcher, m.progress, rma.AtLeast(k.Kill))
	crew[k.Victim].kill()
	errs := []error{coming, busy}
	for i, h := range crew {
		if i != k.Victim {
			if err := h.answer(&said[i]); err != nil {
				errs = append(errs, err)
			}
		}
	}
	for i := range crew {
		if ctx.Err() != nil || i == k.Victim {
			crew[i].kill()
			if crew[i], err = newHand(); err != nil {
				return said, err
			}
		}
	}
	return said, errors.Join(errs...)
}

// TestKilledAmongFour kills one of four processes that share a lock, at any moment. The
// survivors never see half a section, and all end.
func TestKilledAmongFour(t *testing.T) {
	t.Parallel()
	const groups = 2
	numbers := make(chan uint64)
	var mu sync.Mutex
	var sections, cut int
	var all sync.WaitGroup
	for range groups {
		crew := newHands(t, 4)
		all.Go(func() {
			for number := range numbers {
				k := newKillTrial(number)
				ctx, cancel := context.WithTimeout(t.Context(), rmatest.Patience)
				said, err := k.run(ctx, crew)
				cancel()
				mu.Lock()
				for _, s := range said {
					sections += s.Sections
					if s.Cut {
						cut++
					}
				}
				mu.Unlock()
				if err != nil {
					t.Errorf("%s: %v: repeat it with -locks.kills 1 -locks.kill %d\n%+v", k.Lock, err, number, k)
				}
			}
		})
	}
	for i := range kills.N() {
		numbers <- *firstKill + uint64(i)
	}
	close(numbers)
	all.Wait()
	t.Logf("%d trials, %d sections; a survivor's window failed inside a section %d times", kills.N(), sections, cut)
}
