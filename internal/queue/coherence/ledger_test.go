package coherence

import (
	"errors"
	"testing"
)

func newLedger(p Policy) *Ledger {
	l := new(Ledger)
	l.SetPolicy(p)
	return l
}

func TestLedger(t *testing.T) {
	l := newLedger(Poison)
	if s := l.Grant(Write); s != (Stamp{Fence: 1}) || s.Err() != nil {
		t.Errorf("first writer: %+v", s)
	}
	l.Lose(Write)
	if s := l.Grant(Read); s.Fence != 2 || !errors.Is(s.Err(), ErrPoisoned) {
		t.Errorf("reader after a loss: %+v", s)
	}
	l.Lose(Read)
	l.Grant(Write)
	if v := l.Commit(); v != 1 || l.Version() != 1 {
		t.Errorf("version %d after the first commit", v)
	}
	if s := l.Grant(Read); s != (Stamp{Version: 1, Fence: 4}) {
		t.Errorf("reader after a commit: %+v", s)
	}
	l = newLedger(Discard)
	l.Lose(Write)
	if s := l.Grant(Write); !errors.Is(s.Err(), ErrPriorHolderLost) {
		t.Errorf("writer after a loss: %+v", s)
	}
	if s := l.Grant(Read); s.Err() != nil {
		t.Errorf("reader after the next writer: %+v", s)
	}
}

// A writer that fails elsewhere ends the resource, with its fence.
func TestLedgerAborts(t *testing.T) {
	l := newLedger(Abort)
	if l.Abort(7); !l.Aborted() || l.Fence() != 7 {
		t.Errorf("aborted %t, fence %d, want 7", l.Aborted(), l.Fence())
	}
}

// A writer raises the fence, and its commit the version. Other goroutines see both.
func TestLedgerIsSeen(t *testing.T) {
	l := newLedger(Poison)
	l.Raise()
	l.Commit()
	if version, fence := l.Seen(); l.Policy() != Poison || version != 1 || fence != 1 || fence != l.Fence() {
		t.Errorf("version %d, fence %#x", version, fence)
	}
}
