package locks_test

import (
	"context"
	"errors"
	"testing"

	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/net/rma"
)

// considerate is a window that says what it is told, as if its rank ran beside others.
type considerate struct {
	rma.Shared
	gave      int
	turns     []int  // that Returns was told of
	again     int    // after how many it is to be asked
	meanwhile func() // what happens then
}

func (w *considerate) HandedOver() { w.gave++ }
func (w *considerate) Returns(turns int) int {
	w.turns = append(w.turns, turns)
	if w.meanwhile != nil {
		w.meanwhile()
	}
	return w.again
}

// TestGivesWay lets a rank hand over each FIFO lock and each tree to a waiter, and
// come again: it gives way when it hands over, and not when nobody waits, and if it did
// it lets the other one be before it lines up, and from then on as often as it is told to.
// If the window fails meanwhile, it is not let in, though nobody is in its way.
func TestGivesWay(t *testing.T) {
	ctx := context.Background()
	for _, spec := range locks.All() {
		if !spec.FIFO && spec.Name != "HMCS" && spec.Name != "RMA-MCS" {
			continue
		}
		l, f := onMem(t, spec.Name, "core:2", locks.Options{})
		w := make([]*considerate, 2)
		m := make([]locks.Mutex, 2)
		for p := range w {
			window, err := f.Window(locks.Rank(p))
			must(err)
			w[p] = &considerate{Shared: window.(rma.Shared)}
			m[p] = l.At(w[p])
		}
		gave, turns := &w[0].gave, &w[0].turns
		alone := func(times int) {
			for range times {
				must(m[0].Acquire(ctx))
				m[0].Release()
			}
		}
		handOver := func() {
			must(m[0].Acquire(ctx))
			has := make(chan struct{})
			go func() {
				must(m[1].Acquire(ctx))
				close(has)
			}()
			if cohort, ok := m[0].(locks.Cohort); ok {
				for cohort.Alone() {
					w[0].Pause(1000)
				}
			}
			m[0].Release()
			<-has
			m[1].Release()
		}

		if alone(1); *gave != 0 {
			t.Errorf("%s: a rank that nobody waits for gives way", spec.Name)
		}
		handOver()
		// The waiter of CLH-NUMA is behind the holder before it says where it waits.
		if _, ok := m[0].(locks.Cohort); ok && *gave != 1 && (*gave != 0 || spec.Name != "CLH-NUMA") {
			t.Errorf("%s: a rank that hands over gives way %d times, want once", spec.Name, *gave)
		}
		if alone(3); len(*turns) != *gave {
			t.Errorf("%s: a rank that comes again lets others be %d times, and has given way %d times", spec.Name, len(*turns), *gave)
		}
		if *gave == 0 {
			continue // it does not tell whether the other one waits, which may have come too late
		}
		for *gave = 0; *gave == 0; {
			handOver()
		}
		w[0].again, *turns = 3, nil
		if alone(8); len(*turns) != 3 || (*turns)[1] != 3 || (*turns)[2] != 3 {
			t.Errorf("%s: a rank that wants to be asked after 3 turns is asked after %d", spec.Name, *turns)
		}
		w[0].meanwhile = func() { f.Close() }
		must(m[0].Acquire(ctx))
		m[0].Release()
		if err := m[0].Acquire(ctx); !errors.Is(err, locks.ErrBroken) {
			t.Errorf("%s: the window fails when a rank is about to line up, and the error is %v", spec.Name, err)
		}
	}
}
