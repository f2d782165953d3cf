package locks

import (
	"context"
	"testing"

	"github.com/orwl/go-orwl/net/mem"
	"github.com/orwl/go-orwl/net/topology"
)

// handles is the handles of two ranks in memory.
func handles(t *testing.T, name string, o Options) (m [2]Mutex) {
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

// TestAway lets a reader step back from a barger's counter, and be slow to fall asleep:
// a barger whose counter is as it has left it wakes nobody.
func TestAway(t *testing.T) {
	m := handles(t, "RMA-RW", Options{TDC: 2, StepBack: true})
	reader, barger := m[0].(*rmaRW), m[1].(*rmaRW)
	c, ctx := reader.own, t.Context()
	bar := func() {
		t.Helper()
		if err := barger.Acquire(ctx); err != nil || !barger.barged {
			t.Fatalf("nobody is inside, and the barger does not come in: %v", err)
		}
	}

	bar()
	found := c.Add(arriveOne)
	if !c.stepBack(found, away) {
		t.Fatalf("a reader that finds %x cannot step back", found)
	}
	for { // until the phase has come round
		barger.Release()
		bar()
		if v := c.Load(); (v^found)&(epoch|wanted|barred) == 0 {
			break
		}
	}
	over, end := context.WithCancel(ctx)
	end()
	if err := c.change(over, found); err != nil {
		t.Errorf("a reader sleeps at a counter that a barger will let go of without a look at it")
	}

	if !c.stepBack(c.Add(arriveOne), away) || c.Load()&away == 0 {
		t.Error("a reader steps back and leaves nothing")
	}
	if err := c.change(over, c.Load()); err == nil {
		t.Error("a reader that has stepped back comes again though nothing has changed")
	}
	barger.Release()
	c.Add(away) // of one that stepped back from the head, after the head had looked
	bar()
	if c.Load()&away != 0 {
		t.Error("a barger does not see who steps back, since somebody has before")
	}
	barger.Release()
}
