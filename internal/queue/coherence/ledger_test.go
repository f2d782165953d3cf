package coherence

import (
	"errors"
	"testing"
)

func TestLedger(t *testing.T) {
	l := new(Ledger)
	if s := l.Grant(Write); s != (Stamp{Fence: 1}) || s.Err() != nil {
		t.Errorf("first writer: %+v", s)
	}
	l.Lose(Write)
	if s := l.Grant(Read); s.Fence != 2 || !errors.Is(s.Err(), ErrPriorHolderLost) {
		t.Errorf("reader after a loss: %+v", s)
	}
	l.Lose(Read)
	if s := l.Grant(Write); !errors.Is(s.Err(), ErrPriorHolderLost) {
		t.Errorf("writer after a loss: %+v", s)
	}
	if v := l.Commit(); v != 1 || l.Version() != 1 {
		t.Errorf("version %d after the first commit", v)
	}
	if s := l.Grant(Read); s != (Stamp{Version: 1, Fence: 4}) {
		t.Errorf("reader after a commit: %+v", s)
	}
	l.Lose(Write)
	if s := l.Grant(Write); !errors.Is(s.Err(), ErrPriorHolderLost) {
		t.Errorf("writer after a loss: %+v", s)
	}
	if s := l.Grant(Read); s.Err() != nil {
		t.Errorf("reader after the next writer: %+v", s)
	}
}

// Half-written bytes are a version, and stay poisoned until the next commit.
func TestLedgerIsPoisoned(t *testing.T) {
	l := new(Ledger)
	l.Lose(Write)
	l.Poison()
	for range 2 {
		if s := l.Grant(Write); s.Version != 1 || !errors.Is(s.Err(), ErrPoisoned) {
			t.Errorf("after the failure: %+v", s)
		}
		l.Lose(Write)
	}
	l.Commit()
	if s := l.Grant(Read); s.Version != 2 || s.Err() != nil {
		t.Errorf("after a commit: %+v", s)
	}
}

// A writer raises the fence, and its commit the version. Other goroutines see both.
func TestLedgerIsSeen(t *testing.T) {
	l := new(Ledger)
	l.Raise()
	l.Commit()
	if version, fence := l.Seen(); version != 1 || fence != 1 || fence != l.Fence() {
		t.Errorf("version %d, fence %#x", version, fence)
	}
}
