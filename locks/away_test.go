package locks

import (
	"context"
	"testing"

	"github.com/orwl/go-orwl/net/mem"
	"github.com/orwl/go-orwl/net/topology"
)

// sides makes a lock in memory and returns the sides of its two ranks.
func sides(t *testing.T, name string, o Options) (m [2]Mutex) {
	t.Helper()
	f, err := mem.New(mem.Options{Topology: topology.Flat(2)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	spec, _ := ByName(name)
	l, err := spec.New(f, o)
	if err != nil {
		t.Fatal(err)
	}
	for p := range m {
		w, err := f.Window(Rank(p))
		if err != nil {
			t.Fatal(err)
		}
		m[p] = l.At(w)
	}
	return m
}

// TestAway lets a reader step back from a barger's counter and fall asleep late. A barger
// that finds its counter as it has left it wakes no reader. So the reader must not sleep if
// the phase has come round and away is gone.
func TestAway(t *testing.T) {
	m := sides(t, "RMA-RW", Options{TDC: 2, StepBack: true})
	reader, barger := m[0].(*rmaRW), m[1].(*rmaRW)
	c, ctx := reader.own, t.Context()
	bar := func() {
		t.Helper()
		if err := barger.Acquire(ctx); err != nil || !barger.barged {
			t.Fatalf("the lock is free, and the barger does not get it by barging: %v", err)
		}
	}

	bar()
	found := c.Add(arriveOne)
	if !c.stepBack(found, away) {
		t.Fatalf("a reader that finds %x cannot step back", found)
	}
	for { // until the counter's phase is the same again
		barger.Release()
		bar()
		if v := c.Load(); (v^found)&(epoch|wanted|barred) == 0 {
			break
		}
	}
	over, end := context.WithCancel(ctx)
	end()
	if err := c.change(over, found); err != nil {
		t.Errorf("a reader sleeps at a counter, and the barger will release without looking at the counter")
	}

	if !c.stepBack(c.Add(arriveOne), away) || c.Load()&away == 0 {
		t.Error("a reader steps back and does not set away")
	}
	if err := c.change(over, c.Load()); err == nil {
		t.Error("a reader that has stepped back comes again, but nothing has changed")
	}
	barger.Release()
	c.Add(away) // a reader steps back from the head, after the head has looked
	bar()
	if c.Load()&away != 0 {
		t.Error("away stays set when a barger bars the counter: the barger cannot see that another reader steps back")
	}
	barger.Release()
}
