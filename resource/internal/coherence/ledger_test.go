package coherence

import (
	"errors"
	"strings"
	"testing"
)

func TestLedger(t *testing.T) {
	l, err := NewLedger(LedgerOptions{Policy: Poison, Epoch: 2, Version: 5})
	if err != nil {
		t.Fatal(err)
	}
	if s := l.Grant(Write); s != (Stamp{Version: 5, Fence: 1<<32 + 1}) || s.Err() != nil {
		t.Errorf("first writer: %+v", s)
	}
	l.Lose(Write)
	if s := l.Grant(Read); s.Fence != 1<<32+2 || !errors.Is(s.Err(), ErrPoisoned) {
		t.Errorf("reader after a loss: %+v", s)
	}
	l.Lose(Read)
	l.Grant(Write)
	if v := l.Commit(); v != 6 || l.Version() != 6 {
		t.Errorf("version %d after a commit of 5", v)
	}
	if s := l.Grant(Read); s != (Stamp{Version: 6, Fence: 1<<32 + 4}) {
		t.Errorf("reader after a commit: %+v", s)
	}
	l, _ = NewLedger(LedgerOptions{})
	l.Lose(Write)
	if s := l.Grant(Write); !errors.Is(s.Err(), ErrPriorHolderLost) || l.Epoch() != 1 {
		t.Errorf("writer after a loss: %+v", s)
	}
	if s := l.Grant(Read); s.Err() != nil {
		t.Errorf("reader after the next writer: %+v", s)
	}
}

// Fences of an epoch are greater than all of the epoch before, and never fall.
func TestLedgerGoverned(t *testing.T) {
	l, err := NewLedger(LedgerOptions{})
	if err != nil {
		t.Fatal(err)
	}
	l.Govern(Poison, 3)
	if l.Policy() != Poison || l.Epoch() != 3 || l.Fence() != 2<<32 {
		t.Errorf("%v, epoch %d, fence %#x", l.Policy(), l.Epoch(), l.Fence())
	}
	l.Raise()
	if l.Govern(Abort, 1); l.Fence() != 2<<32+1 {
		t.Errorf("the fence falls to %#x", l.Fence())
	}
	l.Count()
	if version, fence := l.Seen(); version != 1 || fence != l.Fence() {
		t.Errorf("version %d, fence %#x", version, fence)
	}
}

// An error of options names the field.
func TestProtocolOptions(t *testing.T) {
	ledger, err := NewLedger(LedgerOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := NewHome(nil, ledger, HomeOptions{Limit: 8}); err != nil {
		t.Errorf("the smallest limit: %v", err)
	}
	for field, err := range map[string]error{
		"LedgerOptions.Policy": second(NewLedger(LedgerOptions{Policy: 3})),
		"LedgerOptions.Epoch":  second(NewLedger(LedgerOptions{Epoch: 1 << 32})),
		"HomeOptions.Limit":    second(NewHome(nil, ledger, HomeOptions{Limit: 12})),
		"MirrorOptions.Limit":  second(NewMirror(nil, MirrorOptions{Limit: -8})),
	} {
		if err == nil || !strings.Contains(err.Error(), field) {
			t.Errorf("%s: %v", field, err)
		}
	}
}

func second[T any](_ T, err error) error { return err }
