package coherence

import (
	"errors"
	"testing"
)

func newLedger(p Policy, epoch uint64) *Ledger {
	l := new(Ledger)
	l.Open(p)
	l.Begin(epoch)
	return l
}

func TestLedger(t *testing.T) {
	l := newLedger(Poison, 2)
	if s := l.Grant(Write); s != (Stamp{Fence: 1<<32 + 1}) || s.Err() != nil {
		t.Errorf("first writer: %+v", s)
	}
	l.Lose(Write)
	if s := l.Grant(Read); s.Fence != 1<<32+2 || !errors.Is(s.Err(), ErrPoisoned) {
		t.Errorf("reader after a loss: %+v", s)
	}
	l.Lose(Read)
	l.Grant(Write)
	if v := l.Commit(); v != 1 || l.Version() != 1 {
		t.Errorf("version %d after the first commit", v)
	}
	if s := l.Grant(Read); s != (Stamp{Version: 1, Fence: 1<<32 + 4}) {
		t.Errorf("reader after a commit: %+v", s)
	}
	l = newLedger(Discard, 1)
	l.Lose(Write)
	if s := l.Grant(Write); !errors.Is(s.Err(), ErrPriorHolderLost) || l.epoch != 1 {
		t.Errorf("writer after a loss: %+v", s)
	}
	if s := l.Grant(Read); s.Err() != nil {
		t.Errorf("reader after the next writer: %+v", s)
	}
}

// A writer that fails elsewhere ends the resource, with its fence.
func TestLedgerAborts(t *testing.T) {
	l := newLedger(Abort, 1)
	if l.Abort(7); !l.Aborted() || l.Fence() != 7 {
		t.Errorf("aborted %t, fence %d, want 7", l.Aborted(), l.Fence())
	}
}

// Fences of an epoch are greater than all of the epoch before, and never fall.
func TestLedgerBegins(t *testing.T) {
	l := newLedger(Poison, 3)
	if l.Policy() != Poison || l.epoch != 3 || l.Fence() != 2<<32 {
		t.Errorf("%v, epoch %d, fence %#x", l.Policy(), l.epoch, l.Fence())
	}
	l.Raise()
	if l.Begin(1); l.Fence() != 2<<32+1 {
		t.Errorf("the fence falls to %#x", l.Fence())
	}
	l.Commit()
	if version, fence := l.Seen(); version != 1 || fence != l.Fence() {
		t.Errorf("version %d, fence %#x", version, fence)
	}
}
