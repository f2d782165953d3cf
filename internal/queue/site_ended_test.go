package queue

import (
	"context"
	"errors"
	"testing"
)

// A home tells of the grants of a node that is lost. A mirror tells of the grants of a home
// that is lost. Neither tells of accesses that were released, or only requested.
func TestEnded(t *testing.T) {
	var told []Ending
	n := newNetwork(3, SiteOptions{Ended: func(e Ending) { told = append(told, e) }})
	at := n.share(t, "x", 16, 0, Options{})
	var holds, waits Place
	fine(t, holds.Request(at[1], Write))
	n.settle(t)
	fine(t, holds.Acquire(context.Background()))
	fine(t, waits.Request(at[2], Write))
	n.settle(t)
	gone := errors.New("gone")

	n.sites[0].Lost(2, gone)
	if len(told) > 0 {
		t.Fatalf("told %+v of who had nothing", told)
	}
	n.sites[0].Lost(1, gone)
	if want := (Ending{Resource: at[0], Node: 1, Grants: 1, Fence: holds.Fence()}); len(told) != 1 || told[0] != want {
		t.Fatalf("the home tells %+v, want %+v", told, want)
	}
	fence := holds.Fence()
	n.sites[1].Lost(0, gone)
	if len(told) != 2 || told[1].Resource != at[1] || told[1].Node != 1 || told[1].Fence != fence || !errors.Is(told[1].Why, gone) {
		t.Fatalf("the mirror tells %+v", told)
	}
	if s := n.sites; s[0].Counts().Expired != 1 || s[1].Counts().Revoked != 1 {
		t.Errorf("counted %d and %d", s[0].Counts().Expired, s[1].Counts().Revoked)
	}
}

// A reader of another node is lost while a reader of the home holds. The fence grows, and the
// holder may look at it meanwhile: the race detector finds a ledger that one of the two uses
// as its own.
func TestReaderLostBesideReader(t *testing.T) {
	n := newNetwork(2, SiteOptions{})
	at := n.share(t, "x", 16, 0, Options{})
	var here, there Place
	fine(t, there.Request(at[1], Read))
	fine(t, here.Request(at[0], Read))
	n.settle(t)
	fine(t, there.Acquire(t.Context()))
	fine(t, here.Acquire(t.Context()))
	before := here.Fence()
	looked := make(chan uint64)
	go func() { looked <- here.Fence() }()
	n.sites[0].Lost(1, errQuiet)
	if during := <-looked; during < before || during > before+1 {
		t.Errorf("the fence was %d, and during the loss %d", before, during)
	}
	if after := here.Fence(); after != before+1 {
		t.Errorf("the fence was %d, and after the loss it is %d", before, after)
	}
	fine(t, here.Release())
}
