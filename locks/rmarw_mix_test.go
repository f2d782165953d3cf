package locks

import (
	"slices"
	"testing"

	"github.com/orwl/go-orwl/net/mem"
	"github.com/orwl/go-orwl/net/topology"
)

// signed is a sum of votes as a counter has it.
func signed(n int) uint64 { return uint64(n+votes) % votes }

// Epochs vote for counters that are further apart if they have few readers, for nearer ones if
// they have many. Others bring the sum nearer to zero.
func TestMixVotes(t *testing.T) {
	for _, c := range []struct {
		m         mix
		sum, want int
	}{
		{mix{readers: 8, few: 8, many: 20}, 0, 1},
		{mix{readers: 8, few: 8, many: 20}, -3, -2},
		{mix{readers: 9, few: 8, many: 20}, 0, 0},
		{mix{readers: 9, few: 8, many: 20}, 3, 2},
		{mix{readers: 9, few: 8, many: 20}, -3, -2},
		{mix{readers: 19, few: 8, many: 20}, 1, 0},
		{mix{readers: 20, few: 8, many: 20}, 0, -1},
		{mix{readers: 20, few: 8, many: 20}, 2, 1},
		{mix{readers: 0, many: 20}, 0, 0}, // the last spread
		{mix{readers: 99, few: 8}, 0, 0},  // the first
	} {
		if got := c.m.vote(signed(c.sum)); got != signed(c.want) {
			t.Errorf("%+v makes %d of %d, want %d", c.m, got, c.sum, signed(c.want))
		}
	}
}

// The spread changes by one step when so many epochs agree, and the votes begin anew.
func TestMixChangesSpread(t *testing.T) {
	few, many := mix{few: 8, many: 20}, mix{readers: 20, few: 8, many: 20}
	for _, hysteresis := range []int{1, 4, 7} {
		v := uint64(spreadOne)
		play := func(m mix, epochs, want int) {
			t.Helper()
			for range epochs {
				spread, vote, pace := m.decide(v, uint64(hysteresis))
				v = spread*spreadOne | vote*voteOne | pace*paceOne
			}
			if got := v / spreadOne % spreads; got != uint64(want) {
				t.Errorf("hysteresis %d: after %d epochs of %+v the spread is %d, want %d", hysteresis, epochs, m, got, want)
			}
		}
		play(few, hysteresis-1, 1)
		play(few, 1, 2)
		play(few, hysteresis-1, 2)
		play(many, 2*hysteresis-2, 2)
		play(many, 1, 1)
		play(many, hysteresis, 0)
	}
}

// T_W is a step smaller after an epoch that it has ended, with twice as many writers as readers
// wait. It grows where it has not ended the epoch, or few writers pass many readers.
func TestMixPace(t *testing.T) {
	for _, c := range []struct {
		m          mix
		pace, want uint64
	}{
		{mix{writers: 9, waiting: 4, ended: true}, 2, 3},
		{mix{writers: 8, waiting: 4, ended: true}, 2, 2},
		{mix{writers: 4, waiting: 8, ended: true}, 2, 2},
		{mix{writers: 4, waiting: 9, ended: true}, 2, 1},
		{mix{writers: 9, waiting: 4}, 2, 1},
		{mix{writers: 9, ended: true}, 2, 1},
		{mix{writers: 9}, 0, 0},
		{mix{writers: 9, waiting: 4, ended: true}, 7, 7},
	} {
		if _, _, got := c.m.decide(c.pace*paceOne, 4); got != c.want {
			t.Errorf("%+v makes pace %d of %d, want %d", c.m, got, c.pace, c.want)
		}
	}
}

// T_R of a counter is divided by eight where few readers come, and back where half of it come.
func TestShiftFollowsReaders(t *testing.T) {
	for _, c := range []struct{ tr, shift, readers, want uint64 }{
		{1000, 0, 31, 1}, {1000, 0, 32, 0}, {1000, 0, 999, 0},
		{1000, 1, 62, 1}, {1000, 1, 63, 0}, {1000, 1, 4, 1}, {1000, 1, 3, 2},
		{1000, 3, 0, 3}, {1000, 3, 1, 2}, {15, 0, 0, 0}, {16, 0, 0, 1},
	} {
		counter := counter{tr: c.tr}
		if got := counter.shift(c.shift*shiftOne+c.readers*(departOne+arriveOne), 2); got != c.want {
			t.Errorf("%+v: the shift is %d, want %d", c, got, c.want)
		}
	}
	for shift, want := range []uint64{1000, 125, 16, 2} {
		c := counter{tr: 1000}
		if got := c.limit(uint64(shift)*shiftOne | closed | phaseMask); got != want {
			t.Errorf("shift %d: T_R is %d, want %d", shift, got, want)
		}
	}
}

// adaptive is RMA-RW-A on a machine, for each rank.
func adaptive(t *testing.T, machine string, o Options) []*rmaRWA {
	t.Helper()
	tree, err := topology.Parse(machine)
	if err != nil {
		t.Fatal(err)
	}
	f, err := mem.New(mem.Options{Topology: tree})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	spec, _ := ByName("RMA-RW-A")
	l, err := spec.New(f, o)
	if err != nil {
		t.Fatal(err)
	}
	var all []*rmaRWA
	for p := range tree.Ranks() {
		w, err := f.Window(Rank(p))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, l.At(w).(*rmaRWA))
	}
	return all
}

// The spreads follow the elements of the machine, and end with one counter.
func TestSpreadsOfMachines(t *testing.T) {
	for _, c := range []struct {
		machine   string
		tdc       int
		want      []int
		few, many []uint64
	}{
		{"core:1", 1, []int{1}, []uint64{0}, []uint64{0}},
		{"core:2", 1, []int{1, 2}, []uint64{24, 0}, []uint64{0, 36}},
		{"core:8", 1, []int{1, 2, 4, 8}, []uint64{96, 48, 24, 0}, []uint64{0, 144, 72, 36}},
		{"core:8", 8, []int{1}, []uint64{0}, []uint64{0}},
		{"node:4 core:4", 0, []int{1, 2, 4}, []uint64{8, 4, 0}, []uint64{0, 12, 6}},
		{"node:4 core:4", 1, []int{1, 4, 8, 16}, []uint64{512, 8, 4, 0}, []uint64{0, 768, 12, 6}},
		{"node:2 core:3", 2, []int{1, 2, 4}, []uint64{6, 4, 0}, []uint64{0, 9, 6}},
	} {
		l := adaptive(t, c.machine, Options{TDC: c.tdc})[0]
		if !slices.Equal(l.strides, c.want) || !slices.Equal(l.few, c.few) || !slices.Equal(l.many, c.many) {
			t.Errorf("%s, T_DC %d: the strides are %v, few %v, many %v, want %v, %v, %v", c.machine, c.tdc, l.strides, l.few, l.many, c.want, c.few, c.many)
		}
	}
}

// The thresholds of writers follow the pace, and T_W stays their bound.
func TestPaceOfWriters(t *testing.T) {
	l := adaptive(t, "rack:2 node:2 core:2", Options{TL: []int{4, 16, 8}, TW: 1024})[0]
	for _, c := range []struct{ pace, middle, finest, turns uint64 }{
		{0, 16, 8, 8}, {1, 8, 4, 8}, {2, 4, 2, 8}, {4, 1, 1, 4}, {5, 1, 1, 1}, {7, 1, 1, 1}, {0, 16, 8, 8},
	} {
		l.follow(c.pace * paceOne)
		if l.levels[1].tl != c.middle || l.levels[2].tl != c.finest || l.tw != c.turns {
			t.Errorf("pace %d: T_L,2 is %d, T_L,3 %d, and there are %d turns; want %+v", c.pace, l.levels[1].tl, l.levels[2].tl, l.tw, c)
		}
	}
}
