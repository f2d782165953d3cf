package message

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/orwl/go-orwl/internal/pack"
	"github.com/orwl/go-orwl/orwl/internal/balance"
	"github.com/orwl/go-orwl/orwl/internal/lives"
)

// A failure is read as it was told, and nothing else is.
func TestFailureCodec(t *testing.T) {
	for _, e := range []Failure{{2, "", false}, {0, "boom", true}, {1, strings.Repeat("x", MostText), false}} {
		b := e.Encode()
		got, err := ParseFailure(b, 3)
		if err != nil || *got != e {
			t.Errorf("%v, %v, want %v", got, err, e)
		}
		for cut := range min(len(b), 100) {
			if _, err := ParseFailure(b[:cut], 3); err == nil {
				t.Errorf("the first %d bytes of %d are read", cut, len(b))
			}
		}
		if _, err := ParseFailure(append(b, 0), 3); err == nil {
			t.Error("one byte more is read")
		}
	}
	if _, err := ParseFailure((&Failure{Node: 3}).Encode(), 3); err == nil {
		t.Error("a node that is not there is read")
	}
	other := failure{Version: Version + 1}
	if _, err := ParseFailure(pack.Encode(&other), 3); err == nil {
		t.Error("another version is read")
	}
	long := Failure{Text: strings.Repeat("x", 2*MostText)}
	if got, err := ParseFailure(long.Encode(), 3); err != nil || len(got.Text) != MostText {
		t.Errorf("a long text: %v", err)
	}
}

// The end of a run is read as it was told, and nothing else is.
func TestFinishCodec(t *testing.T) {
	f := lives.Finish{Writes: 1, Homes: 2, Took: 3, Least: 4, LeastFor: 5, Wanted: true}
	b := Finish{Finish: f}.Encode()
	if got, err := ParseFinish(b); err != nil || got != f {
		t.Errorf("%+v, %v, want %+v", got, err, f)
	}
	for cut := range b {
		if _, err := ParseFinish(b[:cut]); err == nil {
			t.Errorf("the first %d bytes of %d are read", cut, len(b))
		}
	}
	if _, err := ParseFinish(pack.Encode(&Finish{Version: Version + 1})); err == nil {
		t.Error("another version is read")
	}
	for what, f := range map[string]lives.Finish{"writes": {Writes: -1}, "homes": {Homes: -1}, "took": {Took: -1}, "least": {Least: -1}, "for": {LeastFor: -1}} {
		if _, err := ParseFinish(Finish{Finish: f}.Encode()); err == nil {
			t.Errorf("%s below 0 is read", what)
		}
	}
}

// A look is read as it was told, and nothing else is.
func TestLookCodec(t *testing.T) {
	for _, l := range []Look{{}, {Deep: true}, {Answer: true}} {
		b := l.Encode()
		l.Version = Version
		if got, err := ParseLook(b); err != nil || got != l {
			t.Errorf("%+v, %v, want %+v", got, err, l)
		}
		for cut := range b {
			if _, err := ParseLook(b[:cut]); err == nil {
				t.Errorf("the first %d bytes of %d are read", cut, len(b))
			}
		}
		if _, err := ParseLook(append(b, 0)); err == nil {
			t.Error("one byte more is read")
		}
	}
	if _, err := ParseLook(pack.Encode(&Look{Version: Version + 1})); err == nil {
		t.Error("another version is read")
	}
}

// Two programs are the same if all their items are. The first items of programs are compared, too.
func TestSameProgram(t *testing.T) {
	items := []Item{{"task 1", "10 rounds"}, {"access 1", "read"}, {"task 2", ""}}
	whole := First(slices.Values(items), math.MaxInt)
	if whole.Items != 3 || !whole.Same(First(slices.Values(items), 3)) {
		t.Errorf("%+v are not all items", whole)
	}
	for n := range items {
		first := First(slices.Values(items), n)
		if first.Items != n || first.Same(whole) || !first.Same(First(slices.Values(items[:n]), math.MaxInt)) {
			t.Errorf("%+v are not the first %d items", first, n)
		}
	}
	for at, other := range []Item{{"task 1", "11 rounds"}, {"access 2", "read"}, {"task 2", " "}} {
		changed := slices.Clone(items)
		changed[at] = other
		for n := range len(items) + 1 {
			a, b := First(slices.Values(items), n), First(slices.Values(changed), n)
			if a.Same(b) != (n <= at) {
				t.Errorf("the first %d items with %v are the same: %t", n, other, a.Same(b))
			}
		}
	}
	if First(slices.Values([]Item{{"a b", "c"}}), 1).Same(First(slices.Values([]Item{{"a", "b c"}}), 1)) {
		t.Error("a boundary between two texts does not count")
	}
}

// A node's message about its program is read as it was written. Other bytes are refused.
func TestProgramCodec(t *testing.T) {
	mine := First(slices.Values([]Item{{"task 1", "10 rounds"}}), 1)
	b := mine.Encode()
	if got, err := ParseProgram(b); err != nil || !got.Same(mine) {
		t.Errorf("%+v, %v, want %+v", got, err, mine)
	}
	item := Item{"task 1", "10 rounds"}
	if got, err := ParseItem(item.Encode()); err != nil || got != item {
		t.Errorf("%v, %v, want %v", got, err, item)
	}
	for cut := range len(b) {
		if _, err := ParseProgram(b[:cut]); err == nil {
			t.Errorf("the first %d bytes of %d are read", cut, len(b))
		}
	}
	for _, other := range []Program{{Version: Version + 1}, {Version: Version, Items: -1}} {
		if _, err := ParseProgram(pack.Encode(&other)); err == nil {
			t.Errorf("%+v is read", other)
		}
	}
	if _, err := ParseItem(b); err == nil {
		t.Error("a program is read as an item")
	}
}

// FuzzFailure reads anything as a failure. A failure that was read is the same when it is written
// and read again.
func FuzzFailure(f *testing.F) {
	f.Add((&Failure{Node: 2, Text: "boom", Lost: true}).Encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		e, err := ParseFailure(b, 3)
		if err != nil || len(e.Text) > MostText {
			return
		}
		if again, err := ParseFailure(e.Encode(), 3); err != nil || *again != *e {
			t.Errorf("%v is read as %v, %v", e, again, err)
		}
	})
}

// Stamps are read as they were told, and nothing else is. A resource without a write is not among them.
func TestStampsCodec(t *testing.T) {
	var s Stamps
	s.Add(0, 0, 0)
	s.Add(1, 7, 9)
	s.Add(4, 0, 1)
	b := s.Encode()
	got, err := ParseStamps(b, 5)
	if err != nil || !slices.Equal(got.Resources, []int{1, 4}) || !slices.Equal(got.Versions, []uint64{7, 0}) || !slices.Equal(got.Fences, []uint64{9, 1}) {
		t.Errorf("%+v, %v", got, err)
	}
	for cut := range b {
		if _, err := ParseStamps(b[:cut], 5); err == nil {
			t.Errorf("the first %d bytes of %d are read", cut, len(b))
		}
	}
	for what, wrong := range map[string]stamps{
		"another version":       {Version: Version + 1},
		"a version too few":     {Version: Version, Resources: []int{1, 2}, Versions: []uint64{1}, Fences: []uint64{1, 1}},
		"a resource too far":    {Version: Version, Resources: []int{5}, Versions: []uint64{1}, Fences: []uint64{1}},
		"a resource below zero": {Version: Version, Resources: []int{-1}, Versions: []uint64{1}, Fences: []uint64{1}},
	} {
		if _, err := ParseStamps(pack.Encode(&wrong), 5); err == nil {
			t.Errorf("%s is read", what)
		}
	}
}

// A question for a copy and its answer are read as they were told, and nothing else is.
func TestCopyCodec(t *testing.T) {
	for _, c := range []Copy{{Number: 7, Resource: "r"}, {Number: 8, Writes: 3}, {Number: 9, Failure: "broken"}} {
		b := c.Encode()
		c.Version = Version
		if got, err := ParseCopy(b); err != nil || got != c {
			t.Errorf("%+v, %v, want %+v", got, err, c)
		}
		for cut := range b {
			if _, err := ParseCopy(b[:cut]); err == nil {
				t.Errorf("the first %d bytes of %d are read", cut, len(b))
			}
		}
	}
	if _, err := ParseCopy(pack.Encode(&Copy{Version: Version + 1})); err == nil {
		t.Error("another version is read")
	}
}

// TestLifeCodec reads what nodes tell at the end and at the beginning of a life.
func TestLifeCodec(t *testing.T) {
	told := Life{Outcome: Failed, Node: 2, Text: "boom", Barren: 3, Weight: 500, Tries: 2, Kept: lives.Report{Parts: []lives.Held{{Key: lives.Key{Life: 1, Round: 60}, Owner: 1, Tasks: 4}}}}
	b := told.Encode()
	got, err := ParseLife(b)
	if told.Version = Version; err != nil || !reflect.DeepEqual(got, told) {
		t.Errorf("%v, %v, want %v", got, err, told)
	}
	var s Starts
	s.Add(3, 59, true)
	c := s.Encode()
	starts, err := ParseStarts(c, 4)
	if err != nil || !reflect.DeepEqual(*starts, s) {
		t.Errorf("%v, %v, want %v", starts, err, s)
	}
	for _, n := range []int{0, 1, len(b) / 2, len(b) - 1} {
		if _, err := ParseLife(b[:n]); err == nil {
			t.Errorf("the first %d bytes of %d are read", n, len(b))
		}
	}
	if _, err := ParseStarts(c, 3); err == nil {
		t.Error("the start of a task that is not there is read")
	}
	for _, bad := range []Life{{Outcome: outcomes}, {Weight: -1}, {Weight: 1 << 40}, {Tries: -1}, {Tries: balance.MostTries + 1}} {
		if _, err := ParseLife(bad.Encode()); err == nil {
			t.Errorf("%+v is read", bad)
		}
	}
}

// TestFolders encodes what a node tells of its folder, and reads it.
func TestFolders(t *testing.T) {
	want := Folder{Version: Version, Base: 7, Unusable: 2, Kept: lives.Report{Parts: []lives.Held{{Key: lives.Key{Life: 6, Round: 40}, Owner: 1, Tasks: 3}}}}
	b := want.Encode()
	if got, err := ParseFolder(b); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
	for n := range b {
		if _, err := ParseFolder(b[:n]); err == nil {
			t.Errorf("%d bytes are enough", n)
		}
	}
	want.Unusable = -1
	if _, err := ParseFolder(want.Encode()); err == nil {
		t.Error("fewer than no files are taken")
	}
}
