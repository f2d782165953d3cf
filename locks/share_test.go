package locks_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/locks/lockstest"
)

// T_L is not only the most acquisitions in a row that an element may have: an element has
// as many if its ranks want them. These tests decide which rank comes, and when.

// visitors are ranks that come for a lock one after the other.
type visitors struct {
	t     *testing.T
	l     *locks.Lock
	m     []locks.Mutex
	waits []chan struct{} // closed when the rank waits
	again []chan struct{} // closed when it waits for the second time: at the next level
	stays map[int]int     // by rank: while it has the lock, it waits until that one waits again
	mu    sync.Mutex
	order []int // the ranks that have had the lock
	all   sync.WaitGroup
}

func newVisitors(t *testing.T, lock, machineText string, o locks.Options) *visitors {
	t.Helper()
	l, f := onMem(t, lock, machineText, o)
	v := &visitors{t: t, l: l}
	for p := range f.Topology().Ranks() {
		w, err := f.Window(locks.Rank(p))
		must(err)
		waits, again, n := make(chan struct{}), make(chan struct{}), 0
		v.waits, v.again = append(v.waits, waits), append(v.again, again)
		v.m = append(v.m, l.At(lockstest.WatchAll(w, func() {
			switch n++; n {
			case 1:
				close(waits)
			case 2:
				close(again)
			}
		})))
	}
	return v
}

// comes lets a rank come while another one has the lock. It has the lock once, later.
func (v *visitors) comes(p int) { v.come(p, v.m[p].Acquire, v.m[p].Release) }

// reads is comes for a rank that reads.
func (v *visitors) reads(p int) {
	m := v.m[p].(locks.RWMutex)
	v.come(p, m.AcquireRead, m.ReleaseRead)
}

func (v *visitors) come(p int, acquire func(context.Context) error, release func()) {
	v.all.Go(func() {
		must(acquire(context.Background()))
		v.mu.Lock()
		v.order = append(v.order, p)
		v.mu.Unlock()
		if other, stays := v.stays[p]; stays {
			<-v.again[other]
		}
		release()
	})
	<-v.waits[p]
}

// counts is the sum over all ranks, without Waited, which differs between locks.
func (v *visitors) counts() (sum locks.Counts) {
	for _, c := range v.l.Counts() {
		sum = sum.Add(c)
	}
	sum.Waited, sum.UpperWaited = 0, 0
	return sum
}

// TestElementHasItsShare lets three neighbours and a rank of another element come. With
// T_L = 3 two of the neighbours have the lock before the stranger, and one after it.
func TestElementHasItsShare(t *testing.T) {
	for _, spec := range locks.All() {
		if !slices.Contains(spec.Options, "TL") || spec.Name == "RH" || spec.Name == "AHMCS" || spec.Recoverable { // they have tests of their own, or T_L bounds only waiters
			continue
		}
		for _, variant := range lockstest.Variants(spec) {
			if variant.Name == "StepBack" {
				continue // then T_L does not hold
			}
			for _, way := range waysOf(spec) {
				t.Run(spec.Name+"/"+variant.Name+"/"+string(way), func(t *testing.T) {
					o := locks.Options{TL: []int{1, 3}, Operations: way == byOperations}
					if slices.Contains(spec.Options, "TW") {
						o.TW = 50
					}
					variant.Set(&o)
					v := newVisitors(t, spec.Name, "node:2 core:4", o)
					must(v.m[0].Acquire(context.Background()))
					for p := 1; p <= 4; p++ {
						v.comes(p)
					}
					v.m[0].Release()
					v.all.Wait()
					if got, want := v.counts(), (locks.Counts{Acquired: 5, Upper: 3, Passed: 2}); got != want {
						t.Errorf("counted %+v, want %+v", got, want)
					}
					if strings.HasPrefix(spec.Fairness, "T_L") && slices.Index(v.order, 4) != 2 {
						t.Errorf("the order is %v, want rank 4 of the other element to be the third", v.order)
					}
				})
			}
		}
	}
}

// TestShareBeginsAnew lets three neighbours have the lock, T_L times in a row. The last
// tries then, when the lock is free, and two neighbours come again: the count begins anew.
func TestShareBeginsAnew(t *testing.T) {
	for _, spec := range locks.All() {
		if !slices.Contains(spec.Options, "TL") || spec.Name == "RH" || spec.Name == "AHMCS" || spec.Recoverable { // they have tests of their own, or T_L bounds only waiters
			continue
		}
		for _, variant := range lockstest.Variants(spec) {
			if variant.Name == "StepBack" {
				continue // then T_L does not hold
			}
			t.Run(spec.Name+"/"+variant.Name, func(t *testing.T) {
				o := locks.Options{TL: []int{1, 3}}
				if slices.Contains(spec.Options, "TW") {
					o.TW = 50
				}
				variant.Set(&o)
				v := newVisitors(t, spec.Name, "node:2 core:5", o)
				must(v.m[0].Acquire(context.Background()))
				for last := 2; last <= 4; last += 2 { // 1 and 2, then 3 and 4
					v.comes(last - 1)
					v.comes(last)
					v.m[0].Release()
					v.all.Wait()
					if got, want := v.counts(), (locks.Counts{Acquired: uint64(3 * last / 2), Upper: 1, Passed: uint64(last)}); got != want {
						t.Fatalf("counted %+v, want %+v", got, want)
					}
					v.m[0] = v.m[v.order[len(v.order)-1]]
					if !v.m[0].(locks.Tryer).TryAcquire() {
						t.Fatal("the lock is free, and cannot be had")
					}
				}
				v.m[0].Release()
			})
		}
	}
}

// TestShareCountsWaits lets three neighbours and a stranger come for ALock. The neighbours wait in their queue, and the
// stranger at its head. The last neighbour competes with the stranger, and may find that it has gone.
func TestShareCountsWaits(t *testing.T) {
	v := newVisitors(t, "ALock", "node:2 core:4", locks.Options{TL: []int{1, 3}})
	must(v.m[0].Acquire(context.Background()))
	for p := 1; p <= 4; p++ {
		v.comes(p)
	}
	v.m[0].Release()
	v.all.Wait()
	var sum locks.Counts
	for _, c := range v.l.Counts() {
		sum = sum.Add(c)
	}
	if sum.Waited != 3 || sum.UpperWaited < 1 || sum.UpperWaited > 2 {
		t.Errorf("counted %+v, want 3 that waited in the queue, and 1 or 2 at its head", sum)
	}
}

// TestShareAfterTry lets a rank try that was passed the lock before. The share that it knows
// from then must not count any more.
func TestShareAfterTry(t *testing.T) {
	for _, name := range []string{"HMCS", "RMA-RW"} {
		t.Run(name, func(t *testing.T) {
			o := locks.Options{TL: []int{1, 2, 9}}
			if name == "RMA-RW" {
				o.TW = 50
			}
			v := newVisitors(t, name, "rack:2 node:2 core:2", o)
			// The lock goes from rank 2 to its rack's other node, and there from rank 1 to rank 0.
			must(v.m[2].Acquire(context.Background()))
			v.comes(1)
			v.comes(0)
			v.m[2].Release()
			v.all.Wait()
			if got, want := v.counts(), (locks.Counts{Acquired: 3, Upper: 1, Passed: 2}); got != want {
				t.Fatalf("counted %+v, want %+v", got, want)
			}
			// Rank 0 has the lock anew. A neighbour in the rack has it before the other rack.
			if !v.m[0].(locks.Tryer).TryAcquire() {
				t.Fatal("the lock is free, and cannot be had")
			}
			v.order = nil
			v.comes(3)
			v.comes(4)
			v.m[0].Release()
			v.all.Wait()
			if !slices.Equal(v.order, []int{3, 4}) {
				t.Errorf("the order is %v, want rank 3 of the same rack before rank 4", v.order)
			}
		})
	}
}

// TestWritersHaveTheirShare lets writers and a reader come for RMA-RW, or RMA-RW+. With T_W = 3
// the reader has the lock after three writers.
func TestWritersHaveTheirShare(t *testing.T) {
	for _, name := range []string{"RMA-RW", "RMA-RW+"} {
		t.Run(name, func(t *testing.T) { writersHaveTheirShare(t, name) })
	}
}

func writersHaveTheirShare(t *testing.T, name string) {
	for _, way := range []way{byOperations, direct} {
		v := newVisitors(t, name, "core:6", locks.Options{TL: []int{50}, TW: 3, TDC: 6, Operations: way == byOperations})
		must(v.m[0].Acquire(context.Background()))
		for p := 1; p <= 4; p++ {
			v.comes(p)
		}
		reader := v.m[5].(locks.RWMutex)
		v.all.Go(func() {
			must(reader.AcquireRead(context.Background()))
			v.mu.Lock()
			v.order = append(v.order, 5)
			v.mu.Unlock()
			reader.ReleaseRead()
		})
		<-v.waits[5]
		v.m[0].Release()
		v.all.Wait()
		if want := []int{1, 2, 5, 3, 4}; !slices.Equal(v.order, want) {
			t.Errorf("%s: the order is %v, want %v", way, v.order, want)
		}
	}
}

// TestStepBackPassesNothingOn lets two neighbours queue up where Options.StepBack is set. The
// second takes the lock itself when the first lets go of it.
func TestStepBackPassesNothingOn(t *testing.T) {
	for _, way := range []way{byOperations, direct} {
		o := locks.Options{TL: []int{9, 9}, StepBack: true, Operations: way == byOperations}
		v := newVisitors(t, "RMA-RW", "node:2 core:2", o)
		must(v.m[0].Acquire(context.Background()))
		v.comes(2)
		v.comes(3)
		v.m[0].Release()
		v.all.Wait()
		if got, want := v.counts(), (locks.Counts{Acquired: 3, Upper: 3}); got != want {
			t.Errorf("%s: counted %+v, want %+v", way, got, want)
		}
	}
}

// TestShareOfReaders lets a reader and two writers come for ShiftLock, whose readers have their turn after two writers. Rank 0
// is the first of these, also if it was the second of others before.
func TestShareOfReaders(t *testing.T) {
	for _, way := range []way{byOperations, direct} {
		for _, tries := range []bool{false, true} {
			v := newVisitors(t, "ShiftLock", "core:5", locks.Options{Batch: 2, Operations: way == byOperations})
			must(v.m[4].Acquire(context.Background()))
			v.comes(0)
			v.m[4].Release()
			v.all.Wait()
			if !tries {
				must(v.m[0].Acquire(context.Background()))
			} else if !v.m[0].(locks.Tryer).TryAcquire() {
				t.Fatal("a rank cannot have a lock that is free")
			}
			v.reads(1)
			v.comes(2)
			v.comes(3)
			v.m[0].Release()
			v.all.Wait()
			if want := []int{0, 2, 1, 3}; !slices.Equal(v.order, want) {
				t.Errorf("%s, it tries: %t: the order is %v, want %v", way, tries, v.order, want)
			}
		}
	}
}
