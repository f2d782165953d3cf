package locks_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/net/rma"
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

// failing is a window that fails at the first operation that changes a word.
type failing struct {
	rma.Window
	err error
}

func (w *failing) FetchOp(rma.Rank, rma.Disp, rma.Op, uint64) uint64 {
	w.err = errors.New("the connection is lost")
	return 0
}

func (w *failing) Err() error { return w.err }

// A reader whose window fails while it tries has no lock.
func TestFailedWindowEndsTry(t *testing.T) {
	for _, spec := range locks.All() {
		if spec.Kind != locks.ReaderWriter {
			continue
		}
		l, f := onMem(t, spec.Name, "core:2", locks.Options{Operations: true})
		w, err := f.Window(0)
		must(err)
		mine := &failing{Window: w}
		if l.At(mine).(locks.ReadTryer).TryAcquireRead() && mine.err != nil {
			t.Errorf("%s: a try to read succeeds on a window that fails meanwhile", spec.Name)
		}
	}
}
