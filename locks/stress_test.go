package locks_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/locks/lockstest"
	"github.com/orwl/go-orwl/net/mem"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/rmatest"
)

var stress = flag.Duration("locks.stress", 0, "TestStress: how long each lock is stressed in each way; a few rounds, if 0")

const (
	// A reader-writer lock is read more often than its counters can count: see
	// rmarw_counter.go, whose fields have 20 bits.
	manyReads = 1<<20 + 1<<16

	fewRounds = 2000 // of each rank, if there is no -locks.stress
)

// bout is one stress of a lock: some ranks acquire and release it as fast as they can.
type bout struct {
	Lock       string
	Ranks      int
	Operations bool
	Variant    int // of lockstest.Variants
	TR, TDC    int // if not zero
	Rounds     int // of each rank; if zero, until the stop word is set
	Writes     int // one acquisition in so many writes, of a reader-writer lock; if zero, the last
}

// The machines of a bout, by the number of ranks.
var stressMachines = map[int]string{2: "core:2", 3: "core:3", 4: "node:2 core:2"}

// The words that the ranks share: two that only the lock protects, one that tells all to
// stop, and two for each rank, which it writes and the watchdog reads.
const (
	stressPlain = iota // two words, equal whenever no rank writes
	stressStop  = 8
	stressRanks = 16
	stressRank  = 8 // words for each
	stressWords = stressRanks + 4*stressRank
)

// The watchdog reads from a word what a rank does.
const (
	stressOut = iota
	stressAcquires
	stressInside
	stressReleases
)

func (b bout) String() string {
	by := direct
	if b.Operations {
		by = byOperations
	}
	spec, _ := locks.ByName(b.Lock)
	text := fmt.Sprintf("%s, %d ranks, %s", b.Lock, b.Ranks, by)
	if v := lockstest.Variants(spec)[b.Variant].Name; v != "" {
		text += ", " + v
	}
	if b.TR != 0 {
		text += fmt.Sprintf(", T_R %d", b.TR)
	}
	if b.TDC != 0 {
		text += fmt.Sprintf(", T_DC %d", b.TDC)
	}
	return text
}

// make allocates the lock.
func (b bout) make(f rma.Fabric) (*locks.Lock, error) {
	spec, ok := locks.ByName(b.Lock)
	if !ok {
		return nil, fmt.Errorf("no lock %q in the table", b.Lock)
	}
	o := locks.Options{Operations: b.Operations, TR: b.TR, TDC: b.TDC}
	lockstest.Variants(spec)[b.Variant].Set(&o)
	return spec.New(f, o)
}

// stresser is one rank of a bout.
type stresser struct {
	bout
	spec        locks.Spec
	m           locks.Mutex
	p           int
	words       []uint64
	rng         *rand.Rand
	wrote, read uint64
}

// rank is what one rank does. It returns how often it wrote and read.
func (b bout) rank(ctx context.Context, m locks.Mutex, p int, words []uint64) (wrote, read uint64, err error) {
	spec, _ := locks.ByName(b.Lock)
	s := &stresser{bout: b, spec: spec, m: m, p: p, words: words, rng: rand.New(rand.NewPCG(uint64(p), 9))}
	for n := 0; err == nil && (b.Rounds == 0 && atomic.LoadUint64(&words[stressStop]) == 0 || n < b.Rounds); n++ {
		reads := spec.Kind == locks.ReaderWriter && (b.Writes == 0 || s.rng.IntN(b.Writes) != 0)
		err = s.turn(ctx, s.rng.IntN(64), reads)
	}
	if err == nil {
		err = s.turn(ctx, plainly, false) // also where there were readers only
	}
	return s.wrote, s.read, err
}

// How a rank acquires: most numbers mean plainly.
const (
	stressTries  = 0
	stressQuits  = 4 // and the numbers before
	plainly      = 63
	stressYields = 1
)

// turn is one acquisition and one section.
func (s *stresser) turn(ctx context.Context, how int, reads bool) error {
	own := s.words[stressRanks+s.p*stressRank:]
	does := func(what uint64) { atomic.StoreUint64(&own[1], what) }
	defer does(stressOut)
	does(stressAcquires)
	had, err := s.acquire(ctx, how, reads)
	if err != nil || !had {
		return err
	}
	does(stressInside)
	first := s.words[stressPlain]
	if !reads {
		s.words[stressPlain]++
	}
	if how == stressYields {
		runtime.Gosched()
	}
	if second := s.words[stressPlain+1]; first != second {
		return fmt.Errorf("rank %d finds %d and %d in one section", s.p, first, second)
	}
	if !reads {
		s.words[stressPlain+1]++
	}
	does(stressReleases)
	if reads {
		s.read++
		s.m.(locks.RWMutex).ReleaseRead()
	} else {
		s.wrote++
		s.m.Release()
	}
	atomic.AddUint64(&own[0], 1)
	return nil
}

// acquire tries, or acquires with a context that ends soon, or acquires.
func (s *stresser) acquire(ctx context.Context, how int, reads bool) (had bool, err error) {
	if how == stressTries {
		if reads {
			if try, ok := s.m.(locks.ReadTryer); ok {
				return try.TryAcquireRead(), nil
			}
		} else if try, ok := s.m.(locks.Tryer); ok {
			return try.TryAcquire(), nil
		}
	}
	if how < stressQuits && s.spec.Aborts == locks.Always {
		soon, cancel := context.WithTimeout(ctx, time.Duration(s.rng.IntN(50))*time.Microsecond)
		defer cancel()
		ctx = soon
	}
	if reads {
		err = s.m.(locks.RWMutex).AcquireRead(ctx)
	} else {
		err = s.m.Acquire(ctx)
	}
	if errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, locks.ErrBroken) {
		return false, nil
	}
	return err == nil, err
}

// inMem stresses goroutines of one process.
func (b bout) inMem(t *testing.T, d watchdog) {
	t.Helper()
	f, err := mem.New(mem.Options{Topology: machine(t, stressMachines[b.Ranks]), Words: 1 << 12})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	l, err := b.make(f)
	if err != nil {
		t.Fatal(err)
	}
	words := make([]uint64, stressWords)
	wrote, read, errs := make([]uint64, b.Ranks), make([]uint64, b.Ranks), make([]error, b.Ranks)
	var all sync.WaitGroup
	for p := range b.Ranks {
		w, err := f.Window(rma.Rank(p))
		if err != nil {
			t.Fatal(err)
		}
		all.Go(func() {
			if wrote[p], read[p], errs[p] = b.rank(t.Context(), l.At(w), p, words); errs[p] != nil {
				f.Close() // or the others wait for ever
			}
		})
	}
	d.bout, d.words = b, words
	over := d.over(all.Wait, func() { f.Close() })
	b.judge(t, words, wrote, read, append(errs, over))
}

// judge compares what was written with what is left.
func (b bout) judge(t *testing.T, words, wrote, read []uint64, errs []error) {
	t.Helper()
	var writes, reads uint64
	for p := range wrote {
		writes, reads = writes+wrote[p], reads+read[p]
	}
	if err := errors.Join(errs...); err != nil {
		if first := errors.Join(slices.DeleteFunc(errs, func(err error) bool { return errors.Is(err, locks.ErrBroken) })...); first != nil {
			err = first // and the others follow from it
		}
		t.Errorf("%s: %v", b, err)
		return
	}
	if words[stressPlain] != writes || words[stressPlain+1] != writes {
		t.Errorf("%s: %d writes are left of %d", b, words[stressPlain:stressPlain+2], writes)
	}
	if *stress > 0 {
		t.Logf("%s: %d writes, %d reads", b, writes, reads)
	}
}

// bouts are the stresses of a lock, of a third of the time for 2, 3 and 4 ranks. way
// numbers the ways, so that each has its share of the variants.
func bouts(spec locks.Spec, way int, operations bool) (list []bout, dogs []watchdog) {
	add := func(b bout, d watchdog) { list, dogs = append(list, b), append(dogs, d) }
	variants := len(lockstest.Variants(spec))
	for ranks := 2; ranks <= 4; ranks++ {
		b := bout{Lock: spec.Name, Ranks: ranks, Operations: operations, Variant: (ranks + way) % variants, Writes: 4}
		if *stress == 0 {
			b.Rounds = rings.Sampling(fewRounds, fewRounds/4)
		}
		add(b, watchdog{least: *stress / 3})
	}
	if *stress == 0 || spec.Kind != locks.ReaderWriter {
		return list, dogs
	}
	// The second of each pair has no writer that would begin to count anew.
	for variant := range variants {
		b := bout{Lock: spec.Name, Ranks: 4, Operations: operations, Variant: variant, Writes: 1 << 12}
		if slices.Contains(spec.Options, "TDC") {
			b.TDC = b.Ranks // one counter for all
		}
		add(b, watchdog{reads: manyReads})
		if slices.Contains(spec.Options, "TR") {
			b.TR, b.Writes = 1<<18, 0
			add(b, watchdog{reads: manyReads})
		}
	}
	return list, dogs
}

// TestStress stresses every lock on real memory: goroutines by instructions and by
// operations, and processes. See stress_linux_test.go.
func TestStress(t *testing.T) {
	hands := stressHands(t)
	for _, spec := range locks.All() {
		t.Run(spec.Name, func(t *testing.T) {
			for i, way := range waysOf(spec) {
				list, dogs := bouts(spec, i, way == byOperations)
				for k, b := range list {
					b.inMem(t, dogs[k])
				}
			}
			stressProcesses(t, spec, hands)
		})
	}
}

// A watchdog tells the ranks to stop and says which lock hangs, and where.
type watchdog struct {
	bout  bout
	words []uint64
	least time.Duration // how long the bout lasts
	reads uint64        // how many turns there are at least
}

// watch returns when done is closed, or an error if no rank comes forward for long.
func (d watchdog) watch(done <-chan struct{}) error {
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	begin := time.Now()
	last, moved := uint64(0), begin
	for {
		select {
		case <-done:
			return nil
		case <-ticker.C:
		}
		turns := uint64(0)
		for p := range d.bout.Ranks {
			turns += atomic.LoadUint64(&d.words[stressRanks+p*stressRank])
		}
		if turns >= d.reads && time.Since(begin) >= d.least {
			atomic.StoreUint64(&d.words[stressStop], 1)
		}
		if turns != last {
			last, moved = turns, time.Now()
		}
		if time.Since(moved) > rmatest.Patience {
			return d.hangs()
		}
	}
}

func (d watchdog) hangs() error {
	var where []string
	for p := range d.bout.Ranks {
		own := d.words[stressRanks+p*stressRank:]
		does := []string{"is out", "acquires", "is inside", "releases"}[atomic.LoadUint64(&own[1])]
		where = append(where, fmt.Sprintf("rank %d has had %d turns and %s", p, atomic.LoadUint64(&own[0]), does))
	}
	return fmt.Errorf("the lock hangs: no rank had a turn for %v: %s", rmatest.Patience, strings.Join(where, "; "))
}

// over waits for the ranks. If they hang it ends them by end.
func (d watchdog) over(wait, end func()) error {
	done := make(chan struct{})
	go func() {
		wait()
		close(done)
	}()
	err := d.watch(done)
	if err != nil {
		end()
		<-done
	}
	return err
}
