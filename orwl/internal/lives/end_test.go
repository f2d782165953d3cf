package lives

import (
	"reflect"
	"testing"
)

// TestJudge says what becomes of the cuts of a run.
func TestJudge(t *testing.T) {
	slow := Finish{Took: 1_000_000, Least: 100, LeastFor: 10}
	for what, c := range map[string]struct {
		chair Finish
		bytes []int64 // by node: those that it writes, and those that it is the home of
		kept  int64
		want  Verdict
	}{
		"a long run":                    {slow, []int64{40, 40, 60, 60}, 0, Keeps},
		"a run of several nodes":        {Finish{Took: 1100, Least: 100, LeastFor: 10}, []int64{40, 40, 60, 60}, 0, Keeps},
		"it is done again more quickly": {Finish{Took: 1099, Least: 100, LeastFor: 10}, []int64{40, 40, 60, 60}, 0, Stays},
		"a node waits for it":           {Finish{Took: 1, Least: 100, LeastFor: 10, Wanted: true}, []int64{40, 40, 60, 60}, 100, Keeps},
		"more than all resources have":  {slow, []int64{80, 40, 60, 60}, 0, Keeps},
		"the ends have as much as all":  {slow, []int64{40, 90, 10, 60}, 100, Keeps},
		"the ends have more":            {slow, []int64{40, 90, 10, 60}, 101, Forgot},
		"it has more, and is short":     {Finish{Took: 1, Least: 100, LeastFor: 10}, []int64{40, 90, 10, 60}, 101, Forgot},
	} {
		all := []Finish{c.chair, {}}
		all[0].Writes, all[0].Homes, all[1].Writes, all[1].Homes = c.bytes[0], c.bytes[1], c.bytes[2], c.bytes[3]
		if got, bytes := Judge(all, c.kept); got != c.want || bytes != c.bytes[0]+c.bytes[2] {
			t.Errorf("%s: %v, %d bytes, want %v", what, got, bytes, c.want)
		}
	}
}

// TestNoTasks has a program without tasks end. No node sends a record, and the cut at the end is whole.
func TestNoTasks(t *testing.T) {
	k := NewKeeper()
	k.Begin(Life{Number: 1, Run: 1, Nodes: 2, Buddy: []int{1, 0}})
	out := k.Ask(End)
	for to := range 2 {
		if len(out) != 2 || out[to].To != to || out[to].Kind != Whole || out[to].Round != End {
			t.Fatalf("the chair says %+v", out)
		}
	}
	k.Take(0, out[0].Message)
	if asking, _ := k.Asking(); !k.Settled() || !asking {
		t.Errorf("settled is %t, and no cut can follow is %t", k.Settled(), asking)
	}
}

// TestChooseRun chooses a cut for each run. One of another program is not taken.
func TestChooseRun(t *testing.T) {
	held := func(life, run, round, program uint64) Held { return Held{Key{life, run, round}, 0, 2, 2, program} }
	reports := []Report{{Parts: []Held{held(1, 1, End, 7), held(1, 2, 60, 7), held(1, 2, 40, 7), held(2, 2, 40, 7), held(1, 3, 20, 8)}}}
	for run, want := range map[uint64]Key{1: {1, 1, End}, 2: {1, 2, 60}, 3: {}, 4: {}} {
		if got := Choose(reports, run, 7).From; got != want {
			t.Errorf("run %d begins from %v, want %v", run, got, want)
		}
	}
	if got, want := Newest(reports), (Key{1, 3, 20}); got != want {
		t.Errorf("the newest cut is %v, want %v", got, want)
	}
	if got := Newest([]Report{{Parts: []Held{{Key{1, 1, 40}, 0, 1, 2, 0}}}}); got != (Key{}) {
		t.Errorf("%v is the newest cut, and a part of it is missing", got)
	}
}

// TestRuns has a run of two end, and the next one begin. The cuts of the first one stay, and an empty node does not begin a cut
// that the end has overtaken.
func TestRuns(t *testing.T) {
	k := NewKeeper()
	begin := func(run uint64) {
		k.Begin(Life{Number: 1, Run: run, Nodes: 2, Buddy: []int{1, 0}, Total: 1, Mine: 1})
	}
	begin(1)
	for _, round := range []uint64{40, End} {
		k.Asks(Message{Kind: Ask, Key: Key{1, 1, round}})
		k.Add(round, Record{Rounds: 40})
		if settled := k.Settled(); settled {
			t.Errorf("round %d: the end is settled", round)
		}
		k.Take(0, Message{Kind: Whole, Key: Key{1, 1, round}})
	}
	if !k.Settled() || k.Whole() != (Key{1, 1, End}) {
		t.Errorf("%v is whole", k.Whole())
	}
	if _, is := k.Asks(Message{Kind: Ask, Key: Key{1, 1, 60}}); is {
		t.Error("it begins a cut that the end has overtaken")
	}
	begin(2)
	k.grow(20)
	k.Add(20, Record{Rounds: 20})
	k.Take(0, Message{Kind: Whole, Key: Key{1, 1, 60}, Last: true})
	if k.Over() || k.Settled() {
		t.Error("it takes a message of the first run")
	}
	k.Take(0, Message{Kind: Whole, Key: Key{1, 2, 20}})
	want := []Held{{Key{1, 1, End}, 0, 1, 1, 0}, {Key{1, 2, 20}, 0, 1, 1, 0}}
	got := k.Report().Parts
	if len(got) == 2 && got[0].Run > got[1].Run {
		got[0], got[1] = got[1], got[0]
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("it keeps %v, want %v", got, want)
	}
	k.Forget()
	if got := k.Report().Parts; !reflect.DeepEqual(got, want[:1]) {
		t.Errorf("it keeps %v without the second run, want %v", got, want[:1])
	}
	k.Finds([]Found{{Held: want[1]}})
	if got := k.Report().Parts; !reflect.DeepEqual(got, want[:1]) {
		t.Errorf("it tells of %v, and what the disk has of the second run is for another start: want %v", got, want[:1])
	}
	begin(2)
	if got := k.Report().Parts; len(got) != 2 {
		t.Errorf("the second run has begun again, and it tells of %v", got)
	}
}

// TestNone has the disk of a node fail at the end of a run. The chair tells all that there is no cut.
func TestNone(t *testing.T) {
	k := NewKeeper()
	k.Begin(Life{Number: 1, Run: 1, Nodes: 2, Buddy: []int{1, 0}, Total: 2, Mine: 1, Disk: true})
	for _, round := range []uint64{40, End} {
		k.Ask(round)
		out := k.Take(1, Message{Kind: Past, Key: Key{1, 1, round}})
		if want := map[uint64]int{End: 2}[round]; len(out) != want {
			t.Errorf("round %d: %v, want %d letters", round, out, want)
		}
		for _, l := range out {
			k.Take(0, l.Message)
		}
		if k.Settled() != (round == End) {
			t.Errorf("round %d: settled %v", round, k.Settled())
		}
	}
}
