package mem_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/orwl/go-orwl/net/mem"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/topology"
)

// fabric is a fabric of some ranks with one word, and their windows.
func fabric(b *testing.B, ranks int) ([]rma.Window, rma.Disp) {
	b.Helper()
	f, err := mem.New(mem.Options{Topology: topology.Flat(ranks)})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { f.Close() })
	word, err := f.Alloc(1)
	if err != nil {
		b.Fatal(err)
	}
	windows := make([]rma.Window, ranks)
	for p := range windows {
		if windows[p], err = f.Window(rma.Rank(p)); err != nil {
			b.Fatal(err)
		}
	}
	return windows, word
}

// BenchmarkFetchOp compares an operation with the instruction that it is.
func BenchmarkFetchOp(b *testing.B) {
	b.Run("atomic", func(b *testing.B) {
		var word atomic.Uint64
		for b.Loop() {
			word.Add(1)
		}
	})
	windows, word := fabric(b, 2)
	w := windows[0]
	b.Run("sum", func(b *testing.B) {
		for b.Loop() {
			w.FetchOp(1, word, rma.Sum, 1)
		}
	})
	b.Run("replace", func(b *testing.B) {
		for b.Loop() {
			w.FetchOp(1, word, rma.Replace, 1)
		}
	})
	b.Run("cas", func(b *testing.B) {
		for b.Loop() {
			w.CAS(1, word, 1, 1)
		}
	})
	b.Run("put", func(b *testing.B) {
		for b.Loop() {
			w.Put(1, word, 1)
		}
	})
	b.Run("get", func(b *testing.B) {
		for b.Loop() {
			w.Get(1, word)
		}
	})
}

// BenchmarkHandOff is a round trip between two goroutines.
func BenchmarkHandOff(b *testing.B) {
	b.Run("channel", func(b *testing.B) {
		ping, pong := make(chan struct{}), make(chan struct{})
		go func() {
			for range ping {
				pong <- struct{}{}
			}
		}()
		for b.Loop() {
			ping <- struct{}{}
			<-pong
		}
		close(ping)
	})
	b.Run("cond", func(b *testing.B) {
		var mu sync.Mutex
		turn, cond := 0, sync.NewCond(&mu)
		pass := func(from, to int) {
			mu.Lock()
			for turn != from {
				cond.Wait()
			}
			turn = to
			cond.Signal()
			mu.Unlock()
		}
		n := b.N
		go func() {
			for range n {
				pass(1, 0)
			}
		}()
		b.ResetTimer()
		for range n {
			pass(0, 1)
		}
		mu.Lock()
		for turn != 0 {
			cond.Wait()
		}
		mu.Unlock()
	})
	b.Run("await", func(b *testing.B) { ring(b, 2) })
}

// BenchmarkRing hands a turn round more and more ranks: the time for one
// hand-over must not grow with them.
func BenchmarkRing(b *testing.B) {
	for _, ranks := range []int{2, 8, 64} {
		b.Run(fmt.Sprint(ranks), func(b *testing.B) { ring(b, ranks) })
	}
}

// ring is b.N rounds of a turn that goes once round all ranks.
func ring(b *testing.B, ranks int) {
	windows, word := fabric(b, ranks)
	n := uint64(b.N)
	var done sync.WaitGroup
	for _, w := range windows {
		done.Go(func() {
			me := w.Rank()
			next := rma.Rank((int(me) + 1) % ranks)
			for i := range n {
				if me > 0 || i > 0 {
					w.Await(context.Background(), me, word, rma.AtLeast(i+boolean(me > 0)))
				}
				w.Put(next, word, i+1)
			}
		})
	}
	done.Wait()
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*ranks), "ns/hand-over")
}

func boolean(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}
