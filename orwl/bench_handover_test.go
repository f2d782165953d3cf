package orwl_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/orwl/go-orwl/handle"
	"github.com/orwl/go-orwl/internal/queue"
)

// handOver measures rounds in which a resource goes from writer to writer, or from a
// writer to readers and back. Sections are empty, so only waking up counts. A handle
// waits with context.Background, a task with its run's context, which can end.
func handOver(b *testing.B) {
	const target = 1.2
	ending, end := context.WithCancel(context.Background())
	defer end()
	for _, round := range []struct {
		name  string
		modes []queue.Mode
		peers []contender
	}{
		{"two-writers", []queue.Mode{queue.Write, queue.Write},
			[]contender{often("channel", channelRoundTrips)}},
		{"writer-8-readers", append([]queue.Mode{queue.Write}, slices.Repeat([]queue.Mode{queue.Read}, 8)...),
			[]contender{often("cond", rounds(8, oneCond)), often("conds", rounds(8, twoConds))}},
	} {
		for _, m := range []match{
			{"handles", target, often("ours", pairs(context.Background(), round.modes)), round.peers},
			{"tasks", target, often("ours", tasks(round.modes)), round.peers},
			{"handles-whose-context-ends", 0, often("ours", pairs(ending, round.modes)), round.peers},
		} {
			m.name = round.name + "/" + m.name
			if m.target == 0 {
				m.run(b, nil) // a context that ends is told of each sleep
			} else {
				m.run(b, noAllocations)
			}
		}
	}
}

// pairs are goroutines that go through pairs of one resource so many times.
func pairs(ctx context.Context, modes []queue.Mode) func(n int) {
	return func(n int) {
		r := newResource(8)
		queued := make([]*handle.Pair, len(modes))
		for i, m := range modes {
			queued[i] = new(handle.Pair)
			must(queued[i].Request(r, m))
		}
		var all sync.WaitGroup
		for _, p := range queued {
			all.Go(func() {
				for range n {
					must(p.Acquire(ctx))
					must(p.Next())
				}
				must(p.Cancel())
			})
		}
		all.Wait()
	}
}

// tasks are tasks that access one resource in so many rounds.
func tasks(modes []queue.Mode) func(n int) {
	return func(n int) {
		rt := newRuntime()
		r := rt.Resource("r", 8)
		for i, m := range modes {
			t := rt.Task(fmt.Sprint(i))
			if m == queue.Write {
				t.Write(r)
			} else {
				t.Read(r)
			}
			t.Each(n, func(int) error { return nil })
		}
		must(rt.Run(context.Background()))
	}
}

func channelRoundTrips(n int) {
	there, back := make(chan struct{}), make(chan struct{})
	go func() {
		for range n {
			<-there
			back <- struct{}{}
		}
	}()
	for range n {
		there <- struct{}{}
		<-back
	}
}

// stage is the peer without ORWL: one writer, and each version is read by all readers.
// Readers read beside each other, outside the mutex. They count themselves by an
// atomic, also outside it.
type stage struct {
	mu              sync.Mutex
	readers, writer *sync.Cond
	version         int  // the version that may be read
	done            bool // all readers have read it
	left            atomic.Int32
}

// oneCond makes the writer and the readers wait on one condition.
func oneCond() *stage {
	s := &stage{done: true}
	s.writer = sync.NewCond(&s.mu)
	s.readers = s.writer
	return s
}

// twoConds lets the last reader wake only the writer.
func twoConds() *stage {
	s := oneCond()
	s.readers = sync.NewCond(&s.mu)
	return s
}

func (s *stage) write(readers int32) {
	s.mu.Lock()
	for !s.done {
		s.writer.Wait()
	}
	s.done = false
	s.mu.Unlock()
	// A writer writes here.
	s.left.Store(readers)
	s.mu.Lock()
	s.version++
	s.mu.Unlock()
	s.readers.Broadcast()
}

func (s *stage) read(version int) {
	s.mu.Lock()
	for s.version < version {
		s.readers.Wait()
	}
	s.mu.Unlock()
	// A reader reads here.
	if s.left.Add(-1) > 0 {
		return
	}
	s.mu.Lock()
	s.done = true
	s.mu.Unlock()
	s.writer.Broadcast() // with one Cond, a Signal might wake a reader
}

// rounds are a writer and readers on a stage.
func rounds(readers int, newStage func() *stage) func(n int) {
	return func(n int) {
		s := newStage()
		var all sync.WaitGroup
		for range readers {
			all.Go(func() {
				for version := range n {
					s.read(version + 1)
				}
			})
		}
		for range n {
			s.write(int32(readers))
		}
		all.Wait()
	}
}
