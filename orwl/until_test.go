package orwl

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/orwl/go-orwl/resource"
)

// A task that has nothing to do with the end is as many rounds ahead of it as the lag says, and no more.
func TestUntilLag(t *testing.T) {
	const lag, last = 5, 20
	nodes := crew(t, 2)
	defer disband(t, nodes)
	var put atomic.Int64 // rounds
	ahead := make(chan struct{})
	each(nodes, func(_ int, n *Nodes) {
		rt := mustNew(t, Options{Nodes: n})
		first, free := rt.Task("first").On(0), rt.Task("free").On(1)
		end := NewMax[int64](rt, "end").Until(func(v int64) bool { return v == last }, lag).Put(first)
		NewSum(rt, "a sum that ends nothing").Put(first)
		first.Each(-1, func(round int) error {
			if round == 0 {
				select {
				case <-ahead: // the other task runs rounds 0 to lag meanwhile
				case <-t.Context().Done():
				}
			}
			end.Set(int64(round))
			put.Store(int64(round + 1))
			return nil
		})
		free.Each(-1, func(round int) error {
			if round == lag {
				close(ahead)
			}
			if n := put.Load(); int64(round) > n+lag {
				t.Errorf("round %d of the free task has begun, and %d rounds have put: want a lag of %d at most", round, n, lag)
			}
			return nil
		})
		if err := rt.Run(t.Context()); err != nil {
			t.Error(err)
		}
		for _, task := range []*Task{first, free} {
			if task.here() && task.Round() != last+lag+1 {
				t.Errorf("task %q has ended after %d rounds, want %d", task.Name(), task.Round(), last+lag+1)
			}
		}
	})
}

// A life that begins when the end is decided knows it from its cut: in the first rounds no task waits for the one that reads the record.
func TestUntilInCut(t *testing.T) {
	const lag, last, end = 60, 5, 66
	over := make(chan struct{})
	done := sync.OnceFunc(func() { close(over) })
	var began atomic.Int64 // the round in which the second life has begun
	errs := runOn(3, Options{Survive: Survive{Interval: time.Hour}}, func(ctx context.Context, node int, rt *Runtime) error {
		life, reached := rt.o.Nodes.survival.life, NewMax[int64](rt, "end")
		early := rt.Task("early") // the record has the end of this run at first
		puts := reached.Until(func(v int64) bool { return v >= 2 }, 0).Put(early)
		early.Each(-1, func(round int) error {
			puts.Set(int64(round))
			return nil
		})
		if err := rt.Run(ctx); err != nil {
			return err
		}
		first, free := rt.Task("first").On(1), rt.Task("free").On(0)
		puts = reached.Until(func(v int64) bool { return v >= last }, lag).Put(first)
		count := Writes[uint64](free, Array[uint64](rt, "count", 1))
		first.Each(-1, func(round int) error {
			if puts.Set(int64(round)); life == 1 {
				atLeast(time.Millisecond) // so a cut comes before the end
				return nil
			}
			began.CompareAndSwap(0, int64(round))
			select {
			case <-over:
			case <-ctx.Done():
			}
			return nil
		})
		free.Each(-1, func(round int) error {
			if life == 1 {
				atLeast(time.Millisecond)
				if round == last+2 {
					rt.o.Nodes.survival.leaves.Store(node == 0)
				}
			}
			if count.Slice()[0]++; round == end-1 && life > 1 {
				done()
			}
			return nil
		})
		if err := rt.Run(ctx); err != nil {
			return err
		}
		all, err := Values[uint64](ctx, (*resource.Resource)(count.access.resource.Resource))
		if err == nil && all[0] != end {
			err = fmt.Errorf("the free task has had %d rounds, want %d", all[0], end)
		}
		return err
	})
	for i, err := range errs {
		if err != nil {
			t.Errorf("node %d: %v", i, err)
		}
	}
	if n := began.Load(); n <= last || n >= end {
		t.Errorf("the second life has begun in round %d: want one behind %d, in which the end is decided, and before %d", n, last, end)
	}
}

// atLeast keeps a processor busy for some time.
func atLeast(d time.Duration) {
	for began := time.Now(); time.Since(began) < d; {
		busy(1000)
	}
}

// A lag that no plan can have is refused, and nodes agree on it.
func TestUntilRefused(t *testing.T) {
	declare := func(rt *Runtime, lag int) {
		task := rt.Task("a")
		NewMax[int64](rt, "r").Until(func(int64) bool { return true }, lag).Put(task)
		task.Each(-1, func(int) error { return nil })
	}
	for _, lag := range []int{-1, mostLag, mostLag + 1} {
		rt := mustNew(t, Options{})
		declare(rt, lag)
		if err := rt.Run(t.Context()); lag == mostLag {
			if err != nil {
				t.Errorf("a lag of %d: %v", lag, err)
			}
		} else if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("a lag of %d rounds: want 0 to 62", lag)) {
			t.Errorf("a lag of %d: %v", lag, err)
		}
	}
	nodes := crew(t, 2)
	defer disband(t, nodes)
	each(nodes, func(i int, n *Nodes) {
		rt := mustNew(t, Options{Nodes: n})
		declare(rt, i)
		if err := rt.Run(t.Context()); err == nil || !strings.Contains(err.Error(), `the end by reduction "r": a lag of 1 rounds on node 1, a lag of 0 rounds on node 0`) {
			t.Errorf("two lags: %v", err)
		}
	})
}
