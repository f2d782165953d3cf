package locks

import (
	"context"
	"testing"
)

// TestAway lets a reader step back from a barger's counter, and be slow to fall asleep:
// a barger whose counter is as it has left it wakes nobody.
func TestAway(t *testing.T) {
	m := handles(t, "RMA-RW", Options{TDC: 2, StepBack: true})
	reader, barger := m[0].(*rmaRW), m[1].(*rmaRW)
	c, ctx := &reader.c, t.Context()
	bar := func() {
		t.Helper()
		if err := barger.Acquire(ctx); err != nil || barger.turn.mode() != alone {
			t.Fatalf("nobody is inside, and the barger does not come in: %v", err)
		}
	}

	bar()
	found := c.add(arriveOne)
	if !c.stepBack(found, away) {
		t.Fatalf("a reader that finds %x cannot step back", found)
	}
	for { // until the phase has come round
		barger.Release()
		bar()
		if v := c.load(); (v^found)&(epoch|wanted|barred) == 0 {
			break
		}
	}
	over, end := context.WithCancel(ctx)
	end()
	if err := c.change(over, found); err != nil {
		t.Errorf("a reader sleeps at a counter that a barger will let go of without a look at it")
	}

	if !c.stepBack(c.add(arriveOne), away) || c.load()&away == 0 {
		t.Error("a reader steps back and leaves nothing")
	}
	if err := c.change(over, c.load()); err == nil {
		t.Error("a reader that has stepped back comes again though nothing has changed")
	}
	barger.Release()
	c.add(away) // of one that stepped back from the head, after the head had looked
	bar()
	if c.load()&away != 0 {
		t.Error("a barger does not see who steps back, since somebody has before")
	}
	barger.Release()
}
