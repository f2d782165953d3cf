package locks_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/net/rma"
)

// considerate is an rma.Considerate window with given answers. It acts as if its rank
// shared processors with others.
type considerate struct {
	rma.Shared
	gave      int
	turns     []int  // arguments of the calls of Returns
	again     int    // answer of Returns: after how many turns to call it again
	meanwhile func() // called in Returns
}

func (w *considerate) HandedOver() { w.gave++ }
func (w *considerate) Returns(turns int) int {
	w.turns = append(w.turns, turns)
	if w.meanwhile != nil {
		w.meanwhile()
	}
	return w.again
}

// TestGivesWay lets a rank hand over each queue lock, tree and cohort to a waiter of its
// element, and come again. The rank calls HandedOver when it hands over, and not when no
// rank waits. After a hand-over it calls Returns before it queues up again, and then as
// often as Returns asks for. If the window fails in Returns, the rank does not get the
// lock, even if it is free.
func TestGivesWay(t *testing.T) {
	for _, spec := range locks.All() {
		fifo := strings.HasPrefix(spec.Fairness, "FIFO")
		tree := strings.HasSuffix(spec.Name, "HMCS") || spec.Name == "RMA-MCS"
		cohort := strings.HasPrefix(spec.Name, "C-") && !strings.HasSuffix(spec.Name, "-TTS")
		if fifo || tree || cohort {
			t.Run(spec.Name, func(t *testing.T) { givesWay(t, spec) })
		}
	}
}

func givesWay(t *testing.T, spec locks.Spec) {
	ctx := context.Background()
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
		t.Errorf("a rank gives way, but no rank waits for it")
	}
	handOver()
	// The waiter of CLH-NUMA is behind the holder before it announces where it waits.
	if _, ok := m[0].(locks.Cohort); ok && *gave != 1 && (*gave != 0 || spec.Name != "CLH-NUMA") {
		t.Errorf("a rank that hands over gives way %d times, want once", *gave)
	}
	if alone(3); len(*turns) != *gave {
		t.Errorf("a rank that comes again calls Returns %d times, and has given way %d times", len(*turns), *gave)
	}
	if *gave == 0 {
		return // the lock has no Alone, and the waiter may have come too late
	}
	for *gave = 0; *gave == 0; {
		handOver()
	}
	w[0].again, *turns = 3, nil
	if alone(8); len(*turns) != 3 || (*turns)[1] != 3 || (*turns)[2] != 3 {
		t.Errorf("Returns asks for a call after 3 turns, and is called after %d", *turns)
	}
	w[0].meanwhile = func() { f.Close() }
	must(m[0].Acquire(ctx))
	m[0].Release()
	if err := m[0].Acquire(ctx); !errors.Is(err, locks.ErrBroken) {
		t.Errorf("the window fails before a rank queues up: the error is %v, want ErrBroken", err)
	}
}
