package orwl_test

import (
	"context"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/orwl/go-orwl/handle"
	"github.com/orwl/go-orwl/internal/queue"
)

//lint:file-ignore SA2001 sections are empty so that nothing but the lock is measured

// crowd is more and more goroutines that want one resource, with empty sections: ns for
// each section of any goroutine, and how unequally they were served (cv). A channel of
// capacity 1 as a mutex serves its senders in FIFO order, too. The locks of sync let a
// running goroutine go first.
func crowd(b *testing.B) {
	for _, n := range []int{2, 8, 32} {
		writers, mixed := make([]queue.Mode, n), make([]queue.Mode, n)
		for g := range n {
			writers[g] = queue.Write
			if g%4 == 0 {
				mixed[g] = queue.Write
			}
		}
		for _, m := range []match{
			{fmt.Sprintf("writers/%d", n), 0, compete("ours", writers, pairMembers), []contender{
				compete("channel", writers, channelMembers),
				compete("mutex", writers, mutexMembers)}},
			{fmt.Sprintf("every-4th-writes/%d", n), 0, compete("ours", mixed, pairMembers), []contender{
				compete("channel", mixed, channelMembers),
				compete("rwmutex", mixed, rwMutexMembers)}},
		} {
			m.run(b, nil)
		}
	}
}

// member is one goroutine of a crowd.
type member struct {
	section func() // again and again
	leave   func() // at the end, if not nil: others may stand behind it
}

// pairMembers have their requests in the queue when they begin.
func pairMembers(modes []queue.Mode) (members []member) {
	r, ctx := newResource(8), context.Background()
	for _, m := range modes {
		p := new(handle.Pair)
		must(p.Request(r, m))
		members = append(members, member{
			func() {
				must(p.Acquire(ctx))
				must(p.Next())
			},
			func() { must(p.Cancel()) },
		})
	}
	return members
}

func channelMembers(modes []queue.Mode) []member {
	c := make(chan struct{}, 1)
	section := func() { c <- struct{}{}; <-c }
	return membersBy(modes, section, section)
}

func mutexMembers(modes []queue.Mode) []member {
	var mu sync.Mutex
	section := func() { mu.Lock(); mu.Unlock() }
	return membersBy(modes, section, section)
}

func rwMutexMembers(modes []queue.Mode) []member {
	var mu sync.RWMutex
	return membersBy(modes, func() { mu.RLock(); mu.RUnlock() }, func() { mu.Lock(); mu.Unlock() })
}

func membersBy(modes []queue.Mode, read, write func()) (members []member) {
	for _, m := range modes {
		section := read
		if m == queue.Write {
			section = write
		}
		members = append(members, member{section: section})
	}
	return members
}

// The stages of a turn in which several compete.
const (
	warming = iota
	counting
	over
)

// compete is a contender with members that do their sections until the turn is over.
// All have done one before it begins.
func compete(name string, modes []queue.Mode, crowd func([]queue.Mode) []member) contender {
	return contender{name, func() figure {
		var stage atomic.Uint64
		var here, all sync.WaitGroup
		counts := make([]float64, len(modes))
		here.Add(len(modes))
		for g, m := range crowd(modes) {
			all.Go(func() {
				m.section()
				here.Done()
				n := uint64(0)
				for s := stage.Load(); s != over; s = stage.Load() {
					m.section()
					n += s
				}
				counts[g] = float64(n)
				if m.leave != nil {
					m.leave()
				}
			})
		}
		here.Wait()
		<-time.After(*ratioTurn / 5)
		begin := time.Now()
		stage.Store(counting)
		<-time.After(*ratioTurn)
		took := time.Since(begin)
		stage.Store(over)
		all.Wait()
		sum := 0.0
		for _, n := range counts {
			sum += n
		}
		return figure{ns: float64(took.Nanoseconds()) / sum, spread: spread(counts, sum)}
	}}
}

// spread is the coefficient of variation with Bessel's correction.
func spread(counts []float64, sum float64) float64 {
	n, squares := float64(len(counts)), 0.0
	for _, c := range counts {
		squares += (c - sum/n) * (c - sum/n)
	}
	return math.Sqrt(squares/(n-1)) / (sum / n)
}
