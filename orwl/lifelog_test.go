package orwl

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/orwl/go-orwl/orwl/inspect"
	"github.com/orwl/go-orwl/orwl/internal/lives"
)

// A process remembers the lives of its run, and the cuts that they began from. Each node tells of them.
func TestLifeLog(t *testing.T) {
	t.Setenv(livesVariable, "7")
	c := chain{tasks: 5, rounds: 400}
	var seen []*inspect.Life // at the end of each life on node 0
	for _, err := range runOn(2, Options{Survive: Survive{Interval: time.Millisecond}}, func(ctx context.Context, node int, rt *Runtime) error {
		numbers, folded := c.declare(rt, func(_, _ int) error { busy(20_000); return nil })
		err := rt.Run(ctx)
		if node == 0 {
			seen = append(seen, rt.Inspect().Life)
		}
		if err != nil {
			return err
		}
		return c.check(ctx, numbers, folded)
	}) {
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(seen) < 2 {
		t.Fatalf("%d lives", len(seen))
	}
	if !slices.ContainsFunc(seen, func(l *inspect.Life) bool { return !slices.IsSorted(l.Seats) }) {
		t.Errorf("all of %d lives have the nodes in the same order", len(seen))
	}
	for i, l := range seen {
		if l.Number != uint64(i+1) || len(l.Past) != min(i, mostPast) || !slices.Equal(slices.Sorted(slices.Values(l.Seats)), []int{0, 1}) || l.Ended != nil {
			t.Fatalf("life %d is remembered as %+v", i+1, l)
		}
		if i == 0 {
			continue
		}
		before := l.Past[len(l.Past)-1]
		if before.Number != uint64(i) || before.Ended == nil || before.Ended.Before(before.Began) || l.Began.Before(*before.Ended) || before.Why == "" {
			t.Errorf("before life %d was %+v", i+1, before)
		}
		if l.FromRun < before.FromRun || l.FromRun == before.FromRun && l.From <= before.From || l.Run == l.FromRun && l.Round < l.From || l.Cuts == 0 || l.Cuts < seen[i-1].Cuts || l.Copied == 0 {
			t.Errorf("life %d began behind round %d, and the one before behind %d: %+v", i+1, l.From, before.From, l)
		}
	}
}

// Old lives are forgotten.
func TestLifeLogIsBounded(t *testing.T) {
	var h lifeLog
	if h.state() != nil {
		t.Error("before the first life there is one")
	}
	for n := uint64(1); n <= 3*mostPast; n++ {
		h.begins(n, lives.Key{Run: 1, Round: n}, []int{0}, []int{1000})
		h.isLast(errMortal)
		h.ends(nil)
	}
	l := h.state()
	if l.Mortal != errMortal.Error() {
		t.Errorf("the last life ends because of %q", l.Mortal)
	}
	if len(l.Past) != mostPast || l.Past[mostPast-1].Number != 3*mostPast-1 || l.Number != 3*mostPast {
		t.Errorf("%d lives before life %d", len(l.Past), l.Number)
	}
}
