package lives

import (
	"reflect"
	"testing"
)

// TestChoose finds the latest complete cut, and divides the work of sending it among the nodes that have it.
func TestChoose(t *testing.T) {
	held := func(life, round uint64, owners ...int) (all []Held) {
		for _, o := range owners {
			all = append(all, Held{Key{life, 1, round}, o, 2, 4, 0})
		}
		return all
	}
	for what, c := range map[string]struct {
		reports [][]Held
		want    Plan
	}{
		"nothing":                         {reports: [][]Held{nil, nil}},
		"a part is missing":               {reports: [][]Held{held(1, 40, 0), held(1, 40, 0)}},
		"both have all":                   {[][]Held{held(1, 40, 0, 1), held(1, 40, 0, 1)}, Plan{Key{1, 1, 40}, []Holder{{0, 0}, {1, 1}}}},
		"each has one":                    {[][]Held{held(1, 40, 1), held(1, 40, 0)}, Plan{Key{1, 1, 40}, []Holder{{0, 1}, {1, 0}}}},
		"the later one is not whole":      {[][]Held{held(1, 40, 0, 1), held(1, 60, 0)}, Plan{Key{1, 1, 40}, []Holder{{0, 0}, {1, 0}}}},
		"the later one, of an older life": {[][]Held{append(held(1, 60, 0, 1), held(2, 40, 0, 1)...), nil}, Plan{Key{1, 1, 60}, []Holder{{0, 0}, {1, 0}}}},
	} {
		var reports []Report
		for _, parts := range c.reports {
			reports = append(reports, Report{Parts: parts})
		}
		if got := Choose(reports, 1, 0); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %v, want %v", what, got, c.want)
		}
	}
}

// TestAddTwice adds a record a second time. The buddy has it already.
func TestAddTwice(t *testing.T) {
	k := NewKeeper()
	k.Begin(Life{Number: 1, Run: 1, Nodes: 2, Buddy: []int{1, 0}, Total: 2, Mine: 1})
	k.grow(40)
	for _, want := range []int{1, 0} {
		if out := k.Add(40, Record{Rounds: 40}); len(out) != want {
			t.Errorf("%v, want %d letters", out, want)
		}
	}
}

// TestGivenUp has a record come of a cut that the chair has given up. The buddy does not keep it.
func TestGivenUp(t *testing.T) {
	k := NewKeeper()
	k.Begin(Life{Number: 1, Run: 1, Nodes: 2, Buddy: []int{1, 0}, Total: 2, Mine: 1})
	k.grow(60)
	for round, want := range map[uint64]int{40: 0, 60: 1} {
		if out := k.Take(1, Message{Kind: Part, Key: Key{1, 1, round}, Owner: 1, Tasks: 1, Record: Record{Task: 1, Rounds: round}}); len(out) != want {
			t.Errorf("round %d: %v, want %d letters", round, out, want)
		}
	}
}

// TestLateWhole has the word that a cut is whole overtaken by the word of the next one.
func TestLateWhole(t *testing.T) {
	k := NewKeeper()
	k.Begin(Life{Number: 1, Run: 1, Nodes: 2, Buddy: []int{1, 0}, Total: 2, Mine: 1})
	for _, round := range []uint64{60, 40} {
		k.Take(0, Message{Kind: Whole, Key: Key{1, 1, round}})
		if got := k.Whole(); got != (Key{1, 1, 60}) {
			t.Errorf("after the word of %d, %v is whole, want round 60", round, got)
		}
	}
}

// TestAllLeaveAtOnce has both nodes leave. The chair waits for no cut.
func TestAllLeaveAtOnce(t *testing.T) {
	k := NewKeeper()
	k.Begin(Life{Number: 1, Run: 1, Nodes: 2, Buddy: []int{1, 0}, Total: 2, Mine: 1})
	for from, want := range []int{0, 2} {
		out := k.Take(from, Message{Kind: Leave, Key: Key{1, 1, 0}})
		if len(out) != want {
			t.Errorf("node %d leaves: %v, want %d letters", from, out, want)
		}
		for _, l := range out {
			if l.Kind != Whole || !l.Last {
				t.Errorf("node %d leaves: %v, want the end of the life", from, l)
			}
		}
	}
}

// TestStay has nodes leave. A node that has the only copy of a part stays.
func TestStay(t *testing.T) {
	held := func(owners ...int) (r Report) {
		for _, o := range owners {
			r.Parts = append(r.Parts, Held{Key{1, 1, 40}, o, 1, 2, 0})
		}
		return r
	}
	for what, c := range map[string]struct {
		reports []Report
		leaves  []bool
		want    []int
	}{
		"nobody leaves":         {[]Report{held(0), held(1)}, []bool{false, false}, []int{0, 1}},
		"all leave":             {[]Report{held(0, 1), held(0, 1)}, []bool{true, true}, nil},
		"the first":             {[]Report{held(0, 1), held(0, 1)}, []bool{true, false}, []int{1}},
		"the last":              {[]Report{held(0, 1), held(0, 1)}, []bool{false, true}, []int{0}},
		"it has the only copy":  {[]Report{held(0), held(1)}, []bool{true, false}, []int{0, 1}},
		"two have the only one": {[]Report{held(1), held(0), held(0)}, []bool{false, true, true}, []int{0, 2}},
	} {
		if got := Stay(c.reports, c.leaves); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %v stay, want %v", what, got, c.want)
		}
	}
}

// TestLatest finds the latest cuts of two runs, and the newest one of all, in whatever order they come.
func TestLatest(t *testing.T) {
	var r Report
	want := map[cut]Key{}
	for run := range uint64(2) {
		for _, round := range []uint64{10, 20, 30, 40, 50, 60, 70, 80} {
			r.Parts = append(r.Parts, Held{Key: Key{1, run + 1, round}, Tasks: 1, Total: 1})
		}
		want[cut{Key: Key{Run: run + 1}}] = Key{1, run + 1, 80}
	}
	for range 30 { // the order of a map is another one each time
		if got := latest([]Report{r}); !reflect.DeepEqual(got, want) {
			t.Fatalf("%v, want %v", got, want)
		}
		if got := Newest([]Report{r}); got != (Key{1, 2, 80}) {
			t.Fatalf("the newest is %v", got)
		}
	}
}

// TestLacks finds the parts that a node is to send, and has on disk only.
func TestLacks(t *testing.T) {
	found := func(life, round uint64, owner int) Found {
		return Found{Held: Held{Key{life, 1, round}, owner, 1, 4, 0}}
	}
	k := NewKeeper()
	k.Finds([]Found{found(1, 40, 0), found(1, 40, 1), found(1, 40, 2), found(1, 40, 3), found(1, 60, 1), found(2, 40, 1)})
	k.Loaded(Held{Key{1, 1, 40}, 2, 1, 4, 0}, nil)
	plan := Plan{Key{1, 1, 40}, []Holder{{0, 1}, {1, 0}, {2, 0}, {3, 0}}}
	if got, want := k.Lacks(0, plan), []Held{{Key{1, 1, 40}, 1, 1, 4, 0}, {Key{1, 1, 40}, 3, 1, 4, 0}}; !reflect.DeepEqual(got, want) {
		t.Errorf("node 0 lacks %v, want %v", got, want)
	}
	if got := len(k.Report().Parts); got != 6 {
		t.Errorf("a report of %d parts, want each of 6 once", got)
	}
}

// TestSaves has a part complete. It is saved if the life has a disk, its records in the order of the tasks.
func TestSaves(t *testing.T) {
	for _, disk := range []bool{false, true} {
		k := NewKeeper()
		k.Begin(Life{Number: 1, Run: 1, Nodes: 2, Buddy: []int{1, 0}, Total: 3, Mine: 3, Disk: disk})
		k.grow(40)
		for _, task := range []int{1, 2, 0} {
			k.Add(40, Record{Task: task, Rounds: 40})
		}
		f, records, is := k.Saves()
		if is != disk {
			t.Errorf("disk %v: saves %v", disk, f)
		}
		for i, r := range records {
			if r.Task != i || f != (Found{Held: Held{Key{1, 1, 40}, 0, 3, 3, 0}}) {
				t.Errorf("record %d of %v is of task %d", i, f, r.Task)
			}
		}
		if f, _, is := k.Saves(); is {
			t.Errorf("it saves %v, too", f)
		}
	}
}

// TestBeginForgets begins a run after another one. Of that one only complete parts are left.
func TestBeginForgets(t *testing.T) {
	k := NewKeeper()
	k.Begin(Life{Number: 1, Run: 1, Nodes: 2, Buddy: []int{1, 0}, Total: 3, Mine: 2})
	k.grow(40)
	k.Add(40, Record{Rounds: 40})
	k.Begin(Life{Number: 1, Run: 2, Nodes: 2, Buddy: []int{1, 0}, Total: 3, Mine: 2})
	if parts := k.Report().Parts; len(parts) != 0 {
		t.Errorf("parts %v of the run before are left", parts)
	}
}

// TestAddAlone adds a record where there is no buddy.
func TestAddAlone(t *testing.T) {
	k := NewKeeper()
	k.Begin(Life{Number: 1, Run: 1, Nodes: 1, Total: 1, Mine: 1})
	k.grow(40)
	if out := k.Add(40, Record{Rounds: 40}); len(out) != 1 || out[0].Kind != Have {
		t.Errorf("%v, want word of a complete part", out)
	}
}

// TestLoadsOnce has both nodes tell what they have done. The chair gets that once.
func TestLoadsOnce(t *testing.T) {
	k := NewKeeper()
	k.Begin(Life{Number: 1, Run: 1, Nodes: 2, Buddy: []int{1, 0}, Total: 2, Mine: 1})
	for from, want := range []int{0, 2} {
		k.Take(from, Message{Kind: Did, Key: Key{1, 1, 40}})
		if all, is := k.Loads(); len(all) != want || is != (want > 0) {
			t.Errorf("after the word of node %d: %v, %v, want %d loads", from, all, is, want)
		}
	}
	if all, is := k.Loads(); is {
		t.Errorf("a second time: %v", all)
	}
}

// TestPast has nodes tell the chair that a cut cannot be. Only the one that is under way is given up.
func TestPast(t *testing.T) {
	k := NewKeeper()
	k.Begin(Life{Number: 1, Run: 1, Nodes: 2, Buddy: []int{1, 0}, Total: 2, Mine: 1})
	k.Ask(60)
	for _, c := range []struct {
		round, most uint64
		asking      bool
		furthest    uint64
	}{{End, 50, true, 50}, {40, 70, true, 70}, {60, 0, false, 70}} {
		if out := k.Take(1, Message{Kind: Past, Key: Key{1, 1, c.round}, Most: c.most}); len(out) != 0 {
			t.Errorf("the word of %d: %v, want no letter", c.round, out)
		}
		if asking, furthest := k.Asking(); asking != c.asking || furthest != c.furthest {
			t.Errorf("after the word of %d: %v, %d", c.round, asking, furthest)
		}
	}
}

// TestKeyString has the text of a cut.
func TestKeyString(t *testing.T) {
	for k, want := range map[Key]string{{1, 2, 40}: "round 40 of run 2", {1, 2, End}: "the end of run 2"} {
		if got := k.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestCopy has a record copy contents, which are written again afterwards. The copies are one piece of memory.
func TestCopy(t *testing.T) {
	from := []byte("abcde")
	var r Record
	size := r.Copy([]Content{{1, from[:3]}, {7, from[3:]}})
	clear(from)
	_ = append(r.Contents[0].Bytes, 'x') // the next content stays
	if want := []Content{{1, []byte("abc")}, {7, []byte("de")}}; size != 5 || !reflect.DeepEqual(r.Contents, want) {
		t.Errorf("%d bytes, %v, want %v", size, r.Contents, want)
	}
	if string(r.bulk) != "abcde" || &r.bulk[3] != &r.Contents[1].Bytes[0] || &r.bulk[0] != &r.Contents[0].Bytes[0] {
		t.Errorf("all contents are %q, and not one piece of memory", r.bulk)
	}
}
