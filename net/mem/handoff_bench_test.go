package mem_test

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/orwl/go-orwl/net/mem"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/topology"
)

// BenchmarkQueueLock is a FIFO lock under contention. The critical section is empty, so
// that only the hand-over is measured. An MCS lock over a window takes turns with a
// channel used as a fair mutex. More ranks than processors must not make it slower, and
// all ranks must get as many turns: cv is the coefficient of variation of their turns.
//
// With two ranks on a busy machine, both figures are mostly of one rank that
// finds the lock free because the other one has lost its CPU between two tries.
func BenchmarkQueueLock(b *testing.B) {
	for _, ranks := range []int{2, 8, 32} {
		b.Run(fmt.Sprint(ranks), func(b *testing.B) {
			contenders := []struct {
				name           string
				lockers        []locker
				rates, spreads []float64
			}{
				{name: "mcs", lockers: newMCS(b, ranks+1)},
				{name: "channel", lockers: newChannelMutex(ranks + 1)},
			}
			for b.Loop() {
				for i := range contenders {
					c := &contenders[i]
					rate, spread := contend(c.lockers)
					c.rates, c.spreads = append(c.rates, rate), append(c.spreads, spread)
				}
			}
			b.ReportMetric(0, "ns/op")
			for _, c := range contenders {
				b.ReportMetric(middle(c.rates)/1e6, c.name+"-M/s")
				b.ReportMetric(middle(c.spreads), c.name+"-cv")
			}
			b.ReportMetric(middle(contenders[0].rates)/middle(contenders[1].rates), "of-channel")
		})
	}
}

func middle(of []float64) float64 {
	slices.Sort(of)
	return of[len(of)/2]
}

// locker is one contender's view of a lock.
type locker interface {
	lock()
	unlock()
}

// contend lets all but the last locker fight for the lock for a while and
// returns how often it changed hands in a second, and the coefficient of
// variation of the shares. The last one holds it until all have come.
func contend(lockers []locker) (rate, spread float64) {
	const turn = 250 * time.Millisecond // many of the scheduler's time slices
	last := len(lockers) - 1
	var here atomic.Int32
	var stop atomic.Bool
	counts := make([]float64, last)
	lockers[last].lock()
	var all sync.WaitGroup
	for i, l := range lockers[:last] {
		all.Go(func() {
			n := 0
			here.Add(1)
			for !stop.Load() {
				l.lock()
				l.unlock()
				n++
			}
			counts[i] = float64(n)
		})
	}
	for here.Load() < int32(last) {
		runtime.Gosched()
	}
	begin := time.Now()
	time.AfterFunc(turn, func() { stop.Store(true) })
	lockers[last].unlock()
	all.Wait()
	took := time.Since(begin)
	sum, squares := 0.0, 0.0
	for _, n := range counts {
		sum += n
	}
	mean := sum / float64(last)
	for _, n := range counts {
		squares += (n - mean) * (n - mean)
	}
	return sum / took.Seconds(), math.Sqrt(squares/float64(last)) / mean
}

// channelMutex is a fair mutex: a channel serves its senders in FIFO order.
type channelMutex chan struct{}

func (m channelMutex) lock()   { m <- struct{}{} }
func (m channelMutex) unlock() { <-m }

func newChannelMutex(n int) []locker {
	m := make(channelMutex, 1)
	return slices.Repeat([]locker{m}, n)
}

// mcs is one rank's view of the queue lock of Mellor-Crummey and Scott, as they
// list it. Its words are used directly, as a lock may where memory is coherent.
type mcs struct {
	w     rma.Shared
	tail  rma.Word
	nodes []mcsNode
	me    uint64 // rank+1
}

// mcsNode is a rank's place in the queue.
type mcsNode struct{ next, status rma.Word }

// Where the words are. A node is on a line of its own.
const (
	mcsTail    rma.Disp = 0
	mcsNext    rma.Disp = 16
	mcsStatus  rma.Disp = 17
	mcsWords            = 32
	mcsBlocked          = 1
)

// newMCS is one lock as seen by so many ranks.
func newMCS(b *testing.B, ranks int) []locker {
	f, err := mem.New(mem.Options{Topology: topology.Flat(ranks), Words: mcsWords})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { f.Close() })
	lockers := make([]locker, ranks)
	for p := range lockers {
		w, err := f.Window(rma.Rank(p))
		if err != nil {
			b.Fatal(err)
		}
		shared := w.(rma.Shared)
		word := func(p int, disp rma.Disp) rma.Word {
			word, _ := shared.Direct(rma.Rank(p), disp)
			return word
		}
		l := &mcs{w: shared, tail: word(0, mcsTail), me: uint64(p) + 1}
		for q := range ranks {
			l.nodes = append(l.nodes, mcsNode{word(q, mcsNext), word(q, mcsStatus)})
		}
		lockers[p] = l
	}
	return lockers
}

func (l *mcs) lock() {
	mine := &l.nodes[l.me-1]
	mine.next.Store(0)
	before := l.tail.Swap(l.me)
	if before == 0 {
		return
	}
	mine.status.Store(mcsBlocked)
	l.nodes[before-1].next.Store(l.me)
	l.w.Notify(rma.Rank(before-1), mcsNext)
	if _, err := l.w.Await(context.Background(), rma.Rank(l.me-1), mcsStatus, rma.Is(0)); err != nil {
		panic(err)
	}
}

func (l *mcs) unlock() {
	next := l.nodes[l.me-1].next.Load()
	if next == 0 {
		if l.tail.CompareAndSwap(l.me, 0) {
			return
		}
		var err error
		if next, err = l.w.Await(context.Background(), rma.Rank(l.me-1), mcsNext, rma.IsNot(0)); err != nil {
			panic(err)
		}
	}
	l.nodes[next-1].status.Store(0)
	l.w.Notify(rma.Rank(next-1), mcsStatus)
}
