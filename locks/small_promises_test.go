package locks_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/locks/lockstest"
	"github.com/orwl/go-orwl/net/mem"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/rmatest"
	"github.com/orwl/go-orwl/net/sim"
)

// High acquisitions of high priority come in a row. Then it is the turn of one of low priority.
func TestHighHasItsShare(t *testing.T) {
	for _, way := range []way{byOperations, direct} {
		for high, want := range map[int][]int{1: {4, 1, 2, 3}, 2: {1, 4, 2, 3}, 3: {1, 2, 4, 3}} {
			v := newVisitors(t, "P-MCS-MCS", "core:5", locks.Options{High: high, Operations: way == byOperations})
			must(v.m[0].Acquire(context.Background()))
			for p := 1; p <= 3; p++ {
				v.comes(p)
			}
			v.all.Go(func() {
				must(v.m[4].(locks.PriorityMutex).AcquireLow(context.Background()))
				v.mu.Lock()
				v.order = append(v.order, 4)
				v.mu.Unlock()
				v.m[4].Release()
			})
			<-v.waits[4]
			v.m[0].Release()
			v.all.Wait()
			if !slices.Equal(v.order, want) {
				t.Errorf("%s, High %d: the order is %v, want %v", way, high, v.order, want)
			}
		}
	}
}

// The holder of CNA knows of the ranks that it has moved to the second queue.
func TestCNAKnowsSecondQueue(t *testing.T) {
	v := newVisitors(t, "CNA", "node:2 core:2", locks.Options{})
	must(v.m[0].Acquire(context.Background()))
	v.comes(2)
	has := acquireAsync(v.m[1])
	<-v.waits[1]
	v.m[0].Release()
	wait(t, has)
	if v.m[1].(locks.Cohort).Alone() {
		t.Error("the holder is alone, and a rank of another element waits in the second queue")
	}
	v.m[1].Release()
	v.all.Wait()
}

// A writer of C-RW-RP that has lost its patience keeps out readers that try, too.
func TestTryMindsImpatientWriter(t *testing.T) {
	for _, way := range []way{byOperations, direct} {
		v := newVisitors(t, "C-RW-RP-MCS-MCS", "core:3", locks.Options{Patience: 1, Operations: way == byOperations})
		reader, other := v.m[0].(locks.RWMutex), v.m[2].(locks.ReadTryer)
		must(reader.AcquireRead(context.Background()))
		v.comes(1)
		if other.TryAcquireRead() {
			t.Errorf("%s: a try to read succeeds, and a writer has raised the barrier", way)
		}
		reader.ReleaseRead()
		v.all.Wait()
	}
}

// failing is a window that fails at its n-th operation. Then operations do nothing.
type failing struct {
	rma.Window
	n   int
	err error
}

func (w *failing) fails(target rma.Rank) bool {
	if target < 0 {
		panic("there is no such rank")
	}
	if w.n--; w.n == 0 {
		w.err = errors.New("the connection is lost")
	}
	return w.err != nil
}

func (w *failing) Get(p rma.Rank, d rma.Disp) uint64 {
	if w.fails(p) {
		return 0
	}
	return w.Window.Get(p, d)
}

func (w *failing) Put(p rma.Rank, d rma.Disp, v uint64) {
	if !w.fails(p) {
		w.Window.Put(p, d, v)
	}
}

func (w *failing) FetchOp(p rma.Rank, d rma.Disp, op rma.Op, v uint64) uint64 {
	if w.fails(p) {
		return 0
	}
	return w.Window.FetchOp(p, d, op, v)
}

func (w *failing) CAS(p rma.Rank, d rma.Disp, old, new uint64) uint64 {
	if w.fails(p) {
		return 0
	}
	return w.Window.CAS(p, d, old, new)
}

func (w *failing) Await(ctx context.Context, p rma.Rank, d rma.Disp, until rma.Until) (uint64, error) {
	if w.fails(p) {
		return 0, w.err
	}
	return w.Window.Await(ctx, p, d, until)
}

func (w *failing) Err() error { return w.err }

// A rank whose window fails while it tries has no lock.
func TestFailedWindowEndsTry(t *testing.T) {
	for _, spec := range locks.All() {
		if spec.Kind != locks.ReaderWriter {
			continue
		}
		for n := 1; n < 12; n++ {
			for _, reads := range []bool{true, false} {
				l, f := onMem(t, spec.Name, "node:2 core:1", locks.Options{Operations: true})
				w, err := f.Window(0)
				must(err)
				mine := &failing{Window: w, n: n}
				m, has := l.At(mine), false
				if reads {
					has = m.(locks.ReadTryer).TryAcquireRead()
				} else {
					has = m.(locks.Tryer).TryAcquire()
				}
				if has && mine.err != nil {
					t.Errorf("%s, operation %d: a try (to read: %t) succeeds on a window that fails meanwhile", spec.Name, n, reads)
				}
			}
		}
	}
}

// A rank of a cohort whose window fails while it lets go touches no word of a rank that there is not.
func TestFailedWindowEndsRelease(t *testing.T) {
	for n := 1; n < 8; n++ {
		l, f := onMem(t, "C-MCS-MCS", "node:2 core:2", locks.Options{Operations: true, OwnNode: true})
		w, err := f.Window(3)
		must(err)
		mine := &failing{Window: w}
		m := l.At(mine)
		must(m.Acquire(context.Background()))
		mine.n = n
		m.Release()
	}
}

// Rank 4 of MCSCR gives the lock to the eldest of two parked ranks. If its window fails meanwhile, it touches no word of a
// rank that there is not. Rank 0 has parked rank 1, and rank 2 rank 3.
func TestFailedWindowEndsRevive(t *testing.T) {
	for n := 1; n < 8; n++ {
		l, f := onMem(t, "MCSCR", "core:5", locks.Options{Batch: 2, Operations: true})
		var m [5]locks.Mutex
		var last *failing
		has := make(chan int, len(m))
		for p := range m {
			w, err := f.Window(locks.Rank(p))
			must(err)
			last = &failing{Window: w}
			waits := make(chan struct{})
			m[p] = l.At(lockstest.Watch(last, func() { close(waits) }))
			if p == 0 {
				must(m[p].Acquire(context.Background()))
				continue
			}
			go func() {
				if m[p].Acquire(context.Background()) == nil {
					has <- p
				}
			}()
			<-waits
		}
		for holder := 0; holder < 4; holder = <-has {
			m[holder].Release()
		}
		last.n = n
		m[4].Release()
	}
}

// A reader of RMA-RW that has stepped back, and whose window fails before it comes again, has no lock.
func TestFailedWindowEndsStepBack(t *testing.T) {
	for n := 1; n < 9; n++ {
		l, f := onMem(t, "RMA-RW", "core:2", locks.Options{StepBack: true, Operations: true})
		w, err := f.Window(0)
		must(err)
		writer := l.At(w)
		must(writer.Acquire(context.Background()))
		w, err = f.Window(1)
		must(err)
		mine := &failing{Window: w, n: n}
		m := l.At(lockstest.Watch(mine, writer.Release)).(locks.RWMutex)
		if err := m.AcquireRead(context.Background()); (err == nil) != (mine.err == nil) {
			t.Errorf("operation %d: acquiring returns %v on a window whose error is %v", n, err, mine.err)
		}
	}
}

// A writer of WP minds a barrier of readers, also when it tries.
func TestTryMindsBarrier(t *testing.T) {
	for name, want := range map[string]bool{"C-RW-WP-MCS-MCS": false, "C-RW-RP-MCS-MCS": true, "C-RW-NP-MCS-MCS": true} {
		l, f := onMem(t, name, "core:2", locks.Options{})
		w, err := f.Window(0)
		must(err)
		m := l.At(w)
		locks.RaiseBarrier(m)
		if got := m.(locks.Tryer).TryAcquire(); got != want {
			t.Errorf("%s: with a barrier a try of a writer says %t, want %t", name, got, want)
		}
	}
}

// The phase of an indicator has eight bits. After 256 writers it does not spill into the bit that
// keeps readers out.
func TestPhasesOfIndicatorsWrap(t *testing.T) {
	for _, name := range []string{"C-RW-RP-MCS-MCS", "C-RW-WP-MCS-MCS"} {
		l, f := onMem(t, name, "core:2", locks.Options{})
		w, err := f.Window(0)
		must(err)
		m := l.At(w)
		w, err = f.Window(1)
		must(err)
		other := l.At(w)
		for range 3 { // m has not seen these
			must(other.Acquire(context.Background()))
			other.Release()
		}
		for range 600 {
			must(m.Acquire(context.Background()))
			m.Release()
			if !m.(locks.ReadTryer).TryAcquireRead() {
				t.Fatalf("%s: a reader cannot have a lock that is free", name)
			}
			m.(locks.RWMutex).ReleaseRead()
		}
	}
}

// A rank that tries to read wakes the writer that waits for it to go.
func TestReadTryBeside(t *testing.T) {
	rings.Computes(t)
	t.Parallel()
	for _, spec := range locks.All() {
		if spec.Kind != locks.ReaderWriter {
			continue
		}
		t.Run(spec.Name, func(t *testing.T) {
			for _, way := range waysOf(spec) {
				system := sim.System{Topology: machine(t, "core:2"), Shared: way == direct, Setup: func(f *sim.Fabric) (sim.Program, error) {
					l, err := spec.New(f, locks.Options{Operations: way == byOperations})
					return sim.Program{Rank: func(ctx context.Context, w rma.Window) error {
						m := l.At(w).(locks.RWMutex)
						if w.Rank() == 0 {
							if err := m.Acquire(ctx); err != nil {
								return err
							}
							m.Release()
						} else if m.(locks.ReadTryer).TryAcquireRead() {
							m.ReleaseRead()
						}
						return nil
					}}, err
				}}
				if err := system.Exhaust(sim.Limit{States: quitStates.N()}).Err(); err != nil {
					t.Errorf("%s: %v", way, err)
				}
			}
		})
	}
}

// remote is how many operations on other ranks' memory a rank's acquire and release take, and the
// order of all. The ranks come one after the other, while rank 0 holds the lock.
func remote(t *testing.T, lock string, ranks, who int) (got locks.Operations, order []int) {
	t.Helper()
	spec, _ := locks.ByName(lock)
	f, err := mem.New(mem.Options{Topology: machine(t, fmt.Sprintf("core:%d", ranks))})
	must(err)
	defer f.Close()
	l, err := spec.New(f, locks.Options{Operations: true})
	must(err)
	v := &visitors{t: t, l: l}
	var tally *rmatest.Tally
	for p := range ranks {
		w, err := f.Window(rma.Rank(p))
		must(err)
		if p == who {
			tally = rmatest.NewTally(w)
			w = tally
		}
		waits := make(chan struct{})
		v.waits = append(v.waits, waits)
		v.m = append(v.m, l.At(lockstest.Watch(w, func() { close(waits) })))
	}
	must(v.m[0].Acquire(context.Background()))
	for p := 1; p < ranks; p++ {
		v.comes(p)
	}
	v.m[0].Release()
	v.all.Wait()
	c := tally.Remote
	return locks.Operations{Atomics: c.FetchOp + c.CAS, Puts: c.Put + c.Accumulate, Gets: c.Get + c.Await}, v.order
}

// A rank in the middle of a segment of Reciprocating takes a swap and a Put. So the last that came
// goes first.
func TestReciprocatingSegment(t *testing.T) {
	got, order := remote(t, "Reciprocating", 5, 3)
	if want := (locks.Operations{Atomics: 1, Puts: 1}); got != want {
		t.Errorf("a rank in a segment takes %v on other ranks' memory, want %v", got, want)
	}
	if want := []int{4, 3, 2, 1}; !slices.Equal(order, want) {
		t.Errorf("the order is %v, want %v", order, want)
	}
}

// A holder of MCSCR is not alone while a rank is parked. Rank 0 parks rank 1, and nobody waits behind rank 2.
func TestMCSCRAlone(t *testing.T) {
	v := newVisitors(t, "MCSCR", "core:3", locks.Options{})
	must(v.m[0].Acquire(context.Background()))
	parked := acquireAsync(v.m[1])
	<-v.waits[1]
	next := acquireAsync(v.m[2])
	<-v.waits[2]
	v.m[0].Release()
	wait(t, next)
	if v.m[2].(locks.Cohort).Alone() {
		t.Error("rank 2 is alone, though rank 1 is parked")
	}
	v.m[2].Release()
	wait(t, parked)
	if !v.m[1].(locks.Cohort).Alone() {
		t.Error("rank 1 is not alone, though no other rank has come")
	}
	v.m[1].Release()
}

// Of the ranks that wait for TWA one at most awaits the word that is served. The others have slots
// of their own, and a lock of the same set does not let them go on.
func TestTWAWaitsApart(t *testing.T) {
	got, order := remote(t, "TWA", 6, 4)
	// The look at what is served, another one before it waits at its slot, a last one before it waits
	// for its turn, and the look at the next ticket: these and two awaits. The slot is at rank 5.
	if want := (locks.Operations{Atomics: 2, Puts: 0, Gets: 8}); got != want {
		t.Errorf("the fourth that waits takes %v on other ranks' memory, want %v", got, want)
	}
	if want := []int{1, 2, 3, 4, 5}; !slices.Equal(order, want) {
		t.Errorf("the order is %v, want %v", order, want)
	}
}
