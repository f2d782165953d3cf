package locks

import (
	"context"
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
		{1024, 0, 32, 0}, {1 << 14, 3, 0, 3},
	} {
		if got := shift(c.shift*shiftOne+c.readers*(departOne+arriveOne), c.tr, 2); got != c.want {
			t.Errorf("%+v: the shift is %d, want %d", c, got, c.want)
		}
	}
	for shift, want := range []uint64{1000, 125, 16, 2} {
		if got := tunedTR(1000, uint64(shift)*shiftOne|closed|phaseMask); got != want {
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

// A writer ends an epoch with what it knows of the counters that are open, of its turns at the root,
// and of those inside its element.
func TestObserve(t *testing.T) {
	for _, c := range []struct {
		machine   string
		turns, tw uint64
		waits     bool
		want      mix
	}{
		{"core:4", 3, 3, true, mix{readers: 5, waiting: 3, writers: 3, ended: true, few: 24, many: 72}},
		{"core:4", 2, 3, true, mix{readers: 5, waiting: 3, writers: 2, few: 24, many: 72}},
		{"core:4", 4, 3, false, mix{readers: 5, waiting: 3, writers: 4, few: 24, many: 72}},
		{"node:2 core:2", 3, 3, true, mix{readers: 5, waiting: 3, writers: 21, ended: true, few: 4, many: 192}},
	} {
		l := adaptive(t, c.machine, Options{TDC: 1})[0]
		l.follow(spreadOne) // every second counter is open
		l.levels[len(l.levels)-1].run = 7
		l.levels[0].run, l.tw = c.turns, c.tw
		if c.waits {
			l.levels[0].next.Store(2)
		}
		copy(l.barred, []uint64{4*arriveOne + 3*departOne, 4*arriveOne + 2*departOne, 99 * arriveOne, 99 * arriveOne})
		if got := l.observe(); got != c.want {
			t.Errorf("%s, %d of %d turns, the next waits: %t: %+v, want %+v", c.machine, c.turns, c.tw, c.waits, got, c.want)
		}
	}
}

// A writer that lets the readers in leaves spread, votes and pace at counter 0, and minds them
// itself from then on, also if another rank has barred the counters.
func TestWriterLeavesTuning(t *testing.T) {
	for _, mine := range []bool{true, false} {
		l := adaptive(t, "core:4", Options{TDC: 1, TW: 1024})[0]
		for i, spread := range []uint64{spreadOne, closed, spreadOne, closed} {
			l.all[i].Store(spread)
		}
		l.dc[0].Add(3*voteOne + 2*paceOne)
		must(l.Acquire(context.Background()))
		if l.mine = mine; !mine {
			clear(l.barred)
			l.follow(0)
		}
		l.Release()
		v := l.dc[0].Load()
		if spread, vote, pace := v/spreadOne%spreads, v/voteOne%votes, v/paceOne%paces; spread != 2 || vote != 0 || pace != 1 {
			t.Errorf("mine=%t: counter 0 has spread %d, votes %d, pace %d, want 2, 0, 1", mine, spread, vote, pace)
		}
		if len(l.dc) != 1 || l.tw != 256 {
			t.Errorf("mine=%t: the writer has %d open counters and %d turns, want 1, 256", mine, len(l.dc), l.tw)
		}
		if v := l.all[2].Load(); v&closed == 0 {
			t.Errorf("mine=%t: counter 2 is open, want it closed", mine)
		}
	}
}

// A writer that acquires or tries minds spread and pace of counter 0, which the others do not have.
// It touches no counter that is closed.
func TestWriterMindsTuning(t *testing.T) {
	for _, acquire := range []func(*rmaRWA) bool{
		func(l *rmaRWA) bool { return l.Acquire(context.Background()) == nil },
		(*rmaRWA).TryAcquire,
	} {
		l := adaptive(t, "core:4", Options{TDC: 1, TW: 1024})[0]
		for i, v := range []uint64{spreadOne + 2*paceOne, closed, spreadOne, closed} {
			l.all[i].Store(v)
		}
		if !acquire(l) {
			t.Fatal("the lock is free, and cannot be had")
		}
		if len(l.dc) != 2 || l.tw != 64 {
			t.Errorf("the writer has %d open counters and %d turns, want 2, 64", len(l.dc), l.tw)
		}
		for i, want := range []uint64{barred, 0, barred, 0} {
			if got := l.all[i].Load() & barred; got != want {
				t.Errorf("counter %d is barred: %t, want %t", i, got != 0, want != 0)
			}
		}
	}
}

// Readers and writers mind T_R of a counter as its word has it: here it is 2, and not 1,000.
func TestMindsTunedTR(t *testing.T) {
	const word = 3*shiftOne | wanted
	ranks := adaptive(t, "core:3", Options{TDC: 3, TR: 1000})
	l := ranks[0]
	l.all[0].Store(word | arriveOne)
	if !l.TryAcquireRead() {
		t.Error("one reader has come, and a try to read fails")
	}
	if ranks[1].TryAcquireRead() {
		t.Error("two readers have come, and a try to read succeeds")
	}
	if v := ranks[1].arriveAtSeat(); !ranks[1].own.kept(v) {
		t.Error("two readers have come, and the third is in")
	}
	l.all[0].Store(word - wanted)
	must(ranks[2].Acquire(context.Background()))
	if got := ranks[2].dc[0].tr; got != 2 {
		t.Errorf("the writer bars a counter with T_R %d, want 2", got)
	}
}
