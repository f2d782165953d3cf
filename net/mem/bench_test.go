package mem_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/orwl/go-orwl/net/mem"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/topology"
)

// contender does something n times.
type contender struct {
	name string
	do   func(n int)
}

// compare times ours and its peers in turns, so that a machine that changes its
// speed changes it for all, and reports the medians and their ratios.
func compare(b *testing.B, ours contender, peers ...contender) {
	const turns = 9
	all := append([]contender{ours}, peers...)
	times := make([][]float64, len(all))
	n := max(1, b.N/turns)
	b.ResetTimer()
	for range turns {
		for i, c := range all {
			begin := time.Now()
			c.do(n)
			times[i] = append(times[i], float64(time.Since(begin).Nanoseconds())/float64(n))
		}
	}
	median := func(i int) float64 {
		slices.Sort(times[i])
		return times[i][turns/2]
	}
	b.ReportMetric(median(0), "ns/"+ours.name)
	for i, peer := range peers {
		b.ReportMetric(median(i+1), "ns/"+peer.name)
		b.ReportMetric(median(0)/median(i+1), "of-"+peer.name)
	}
	b.ReportMetric(0, "ns/op") // of all together: says nothing
}

// world is a fabric of some ranks with one word, and their windows.
func world(b *testing.B, ranks int) ([]rma.Window, rma.Disp) {
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

// BenchmarkFetchOp compares an operation on another rank's word with the
// instruction that it is.
func BenchmarkFetchOp(b *testing.B) {
	var bare atomic.Uint64
	windows, word := world(b, 2)
	w := windows[0]
	add := contender{"atomic-add", func(n int) {
		for range n {
			bare.Add(1)
		}
	}}
	for name, operation := range map[string]func(n int){
		"sum": func(n int) {
			for range n {
				w.FetchOp(1, word, rma.Sum, 1)
			}
		},
		"replace": func(n int) {
			for range n {
				w.FetchOp(1, word, rma.Replace, 1)
			}
		},
		"cas": func(n int) {
			w.Put(1, word, 1)
			for range n {
				w.CAS(1, word, 1, 1)
			}
		},
		"put": func(n int) {
			for range n {
				w.Put(1, word, 1)
			}
		},
	} {
		b.Run(name, func(b *testing.B) { compare(b, contender{name, operation}, add) })
	}
}

// BenchmarkHandOff is a round trip between two goroutines.
func BenchmarkHandOff(b *testing.B) {
	ring := newRing(b, 2)
	compare(b, contender{"await", ring.turn}, contender{"channel", channelPingPong}, contender{"cond", condPingPong})
}

func channelPingPong(n int) {
	ping, pong := make(chan struct{}), make(chan struct{})
	go func() {
		for range ping {
			pong <- struct{}{}
		}
	}()
	for range n {
		ping <- struct{}{}
		<-pong
	}
	close(ping)
}

func condPingPong(n int) {
	var mu sync.Mutex
	turn, cond := 0, sync.NewCond(&mu)
	play := func(me int) {
		for range n {
			mu.Lock()
			for turn != me {
				cond.Wait()
			}
			turn = 1 - me
			cond.Signal()
			mu.Unlock()
		}
	}
	var other sync.WaitGroup
	other.Go(func() { play(1) })
	play(0)
	other.Wait()
}

// BenchmarkRing hands a turn round more and more ranks, against channels that
// do the same: the time for one hand-over must not grow with the ranks.
func BenchmarkRing(b *testing.B) {
	for _, ranks := range []int{2, 8, 64} {
		b.Run(fmt.Sprint(ranks), func(b *testing.B) {
			ring := newRing(b, ranks)
			rounds := func(do func(n int)) func(n int) { return func(n int) { do(n/ranks + 1) } }
			compare(b, contender{"await", rounds(ring.turn)},
				contender{"channels", rounds(func(n int) { channelRing(ranks, n) })})
		})
	}
}

func channelRing(ranks, rounds int) {
	links := make([]chan struct{}, ranks)
	for i := range links {
		links[i] = make(chan struct{}, 1)
	}
	var all sync.WaitGroup
	for i := range links {
		all.Go(func() {
			for range rounds {
				<-links[i]
				links[(i+1)%ranks] <- struct{}{}
			}
		})
	}
	links[0] <- struct{}{}
	all.Wait()
}

// ring is ranks that hand a turn on: a word at each counts the turns it had.
type ring struct {
	windows []rma.Window
	word    rma.Disp
	rounds  uint64
}

func newRing(b *testing.B, ranks int) *ring {
	windows, word := world(b, ranks)
	windows[0].Put(0, word, 1) // rank 0 begins
	return &ring{windows: windows, word: word}
}

// turn lets the turn go round n times.
func (r *ring) turn(n int) {
	var all sync.WaitGroup
	for p, w := range r.windows {
		next := rma.Rank((p + 1) % len(r.windows))
		all.Go(func() {
			for round := range uint64(n) {
				mine := r.rounds + round + 1
				w.Await(context.Background(), w.Rank(), r.word, rma.AtLeast(mine))
				if next == 0 {
					mine++
				}
				w.Put(next, r.word, mine)
			}
		})
	}
	all.Wait()
	r.rounds += uint64(n)
}
