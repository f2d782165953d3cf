package main

import (
	"slices"
	"testing"
	"time"
)

func TestLeads(t *testing.T) {
	for _, c := range []struct {
		all  []statement
		want []time.Duration
	}{
		{[]statement{{Machine: "a", Begin: 7}}, []time.Duration{0}},
		{[]statement{{Machine: "a", Begin: 7}, {Machine: "a", Begin: 9}, {Machine: "a", Begin: 4}}, []time.Duration{3, 5, 0}},
		// Another machine's clock is not this one's.
		{[]statement{{Machine: "a", Begin: 7}, {Machine: "b", Begin: 9}, {Machine: "a", Begin: 4}}, []time.Duration{3, 3, 0}},
		// Nor has one a clock that cannot be told.
		{[]statement{{Begin: 7}, {Begin: 9}}, []time.Duration{0, 0}},
	} {
		if got := leads(c.all); !slices.Equal(got, c.want) {
			t.Errorf("%+v: %v, want %v", c.all, got, c.want)
		}
	}
}

// TestSettle puts the statements of two nodes together. The second began 5 later and ended 3
// later.
func TestSettle(t *testing.T) {
	f := newField(problem{rows: 2, cols: 1, iters: 1, values: noise}, size{2, 1}, fused)
	f.parts = []*part{{node: 0}, {node: 1}}
	done := f.settle([]statement{
		{Machine: "a", Begin: 10, Took: 20, Shipped: 3, Processors: 2,
			Accounts: []account{{[phases]time.Duration{computing: 18, outside: 2}, tally{Reads: 1}}}},
		{Machine: "a", Begin: 15, Took: 18, Shipped: 4, Processors: 2,
			Accounts: []account{{[phases]time.Duration{computing: 18}, tally{Reads: 2}}}},
	})
	if done.took != 23 || done.shipped != 7 || done.processors != 4 {
		t.Errorf("%v, %d bytes, %d processors; want 23, 7 and 4", done.took, done.shipped, done.processors)
	}
	for n, want := range []struct {
		outside time.Duration
		reads   int64
	}{{5, 1}, {5, 2}} {
		p := f.parts[n]
		if p.watch.spent[outside] != want.outside || p.Reads != want.reads {
			t.Errorf("part %d: %v outside, %d reads; want %+v", n, p.watch.spent[outside], p.Reads, want)
		}
	}
}
