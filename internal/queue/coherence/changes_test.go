package coherence

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// bitmap is the reference for Changes: a bit for each byte. It searches for the runs of
// bits anew each time.
type bitmap []bool

func (b bitmap) runs() (runs []Span) {
	for i := 0; i < len(b); i++ {
		if from := i; b[i] {
			for i < len(b) && b[i] {
				i++
			}
			runs = append(runs, Span{from, i - from})
		}
	}
	return runs
}

func (b bitmap) add(r Span) {
	b.fill(r)
	runs := b.runs()
	if len(runs) <= mostChanges {
		return
	}
	var gaps []Span
	for i, next := range runs[1:] {
		gaps = append(gaps, Span{runs[i].end(), next.Off - runs[i].end()})
	}
	b.fill(slices.MinFunc(gaps, func(a, b Span) int { return a.Len - b.Len }))
}

func (b bitmap) fill(r Span) {
	for i := r.Off; i < r.end(); i++ {
		b[i] = true
	}
}

func TestChangesAreABitmap(t *testing.T) {
	full := 0 // runs that reached the bound
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.SampledFrom([]int{8, 64, 200, 1000}).Draw(t, "size")
		var d Changes
		model := make(bitmap, size)
		for range 60 {
			switch rapid.IntRange(0, 1<<20).Draw(t, "step") {
			case 3:
				d.Reset()
				clear(model)
			case 4:
				d.Whole(size)
				model.fill(Span{0, size})
			default:
				// This scatters the offsets, since rapid draws small numbers most
				// often.
				off := rapid.IntRange(0, size).Draw(t, "off") * 7919 % (size + 1)
				r := Span{off, rapid.IntRange(0, min(9, size-off)).Draw(t, "len")}
				if !d.Add(r, size) {
					t.Fatal("not added")
				}
				model.add(r)
			}
			got, want := d.Spans(), model.runs()
			if !slices.Equal(got, want) {
				t.Fatalf("got %v, want %v", got, want)
			}
			bytes := 0
			for _, r := range want {
				bytes += r.Len
			}
			if d.n != len(want) || d.Bytes() != bytes {
				t.Fatalf("%d spans of %d bytes, want %d of %d", d.n, d.Bytes(), len(want), bytes)
			}
			if named := d.Part(size); (named == nil) != (bytes == 0 || bytes == size) {
				t.Fatalf("%d of %d bytes are the part %v", bytes, size, named)
			}
			if len(want) == mostChanges {
				full++
			}
		}
	})
	if full == 0 {
		t.Error("no run came to as many spans as there may be")
	}
}

// The smallest gap closes; of equal ones, the first.
func TestTooManyChanges(t *testing.T) {
	var d Changes
	for i := range mostChanges {
		if !d.Add(Span{10 * i, 1}, 1000) {
			t.Fatal("not added")
		}
	}
	for _, c := range []struct {
		add, joined Span
		bytes       int
	}{
		{Span{154, 2}, Span{150, 6}, 21},    // behind all, near the last
		{Span{305, 1}, Span{0, 11}, 31},     // behind all: the others are nearer to each other
		{Span{27, 2}, Span{27, 4}, 34},      // between
		{Span{500, 400}, Span{20, 11}, 440}, // behind all
	} {
		if !d.Add(c.add, 1000) {
			t.Fatal("not added")
		}
		if all := d.Spans(); len(all) != mostChanges || !slices.Contains(all, c.joined) || d.Bytes() != c.bytes {
			t.Errorf("after %v: %v with %d bytes, want one %v and %d bytes", c.add, all, d.Bytes(), c.joined, c.bytes)
		}
	}
}

func TestChangesRefuse(t *testing.T) {
	for _, r := range []Span{
		{-1, 1}, {0, -1}, {0, 65}, {64, 1}, {65, 0}, {1, 64}, {-8, 8}, {63, 2},
		{math.MaxInt, 1}, {1, math.MaxInt}, {math.MaxInt, math.MaxInt}, {math.MinInt, math.MinInt}, {2, math.MinInt},
	} {
		var d Changes
		d.Whole(8)
		if d.Add(r, 64) {
			t.Errorf("%v is added to 64 bytes", r)
		}
		if d.n != 1 || d.Bytes() != 8 {
			t.Errorf("a refused span changed the others to %v", d.Spans())
		}
	}
}

func TestChangesOfNothing(t *testing.T) {
	var d Changes
	d.Add(Span{0, 8}, 8)
	if d.Whole(0); d.n != 0 {
		t.Error("the whole of nothing is a span")
	}
	for _, off := range []int{0, 4, 8} {
		if !d.Add(Span{off, 0}, 8) || d.n != 0 {
			t.Errorf("no byte at %d: %d spans", off, d.n)
		}
	}
}

func TestChangesAllocateNothing(t *testing.T) {
	var d Changes
	sum := 0
	if n := testing.AllocsPerRun(100, func() {
		d.Reset()
		for i := range 100 {
			if !d.Add(Span{i * 37 % 100 * 10, 4}, 1000) {
				t.Fatal("not added")
			}
		}
		for _, r := range d.Spans() {
			sum += r.Len
		}
		if sum == 0 {
			t.Fatal("nothing was added")
		}
	}); n != 0 {
		t.Errorf("100 spans allocate %v times", n)
	}
}

// A release of all bytes may have changed all, even if it names spans: no correct mirror's does.
func TestHistoryIgnoresSpansOfAll(t *testing.T) {
	h := record(t, Discard)
	must(t, h, asks(1, 1, Write))
	h.grant(0)
	all := Message{Kind: ReleaseMessage, Seq: 2, ID: 1, Stamp: Stamp{Fence: 1}, Wrote: true, Whole: true, Size: 8, Bytes: make([]byte, 8), Spans: []Span{{0, 1}}}
	if _, err := tell(t, h, all); err != nil || h.ledger.Version() != 1 || h.ledger.history != nil {
		t.Errorf("%v: version %d, kept changes %v", err, h.ledger.Version(), h.ledger.history)
	}
}

// A home without mirrors keeps no history. It sends all bytes to a mirror that claims a version which is still to
// come, or has none.
func TestHistoryIsForMirrors(t *testing.T) {
	h := record(t, Discard)
	change := func() {
		h.ledger.Commit()
		h.ledger.Changed([]Span{{0, 1}}, 8)
	}
	change()
	if h.ledger.history != nil {
		t.Error("no mirror has a version, and changes are kept")
	}
	for known, want := range map[uint64]Message{
		0: {Whole: true, Bytes: make([]byte, 8)}, 2: {Known: 2, Bytes: make([]byte, 1)}, 9: {Whole: true, Bytes: make([]byte, 8)},
	} {
		h := record(t, Discard)
		h.ledger.shared = true
		h.ledger.Commit()
		h.ledger.Commit()
		h.ledger.Changed([]Span{{3, 1}}, 8)
		if _, err := tell(t, h, Message{Kind: RequestMessage, Seq: 1, ID: 1, Known: known}); err != nil {
			t.Fatal(err)
		}
		if m := h.grant(0)[0]; m.Whole != want.Whole || m.Known != want.Known || len(m.Bytes) != len(want.Bytes) {
			t.Errorf("to a mirror that has v%d: %v", int64(known)-1, &m)
		}
	}
}

// One span more, at each position where it may come.
func BenchmarkChangesAdd(b *testing.B) {
	var full Changes
	for i := range mostChanges {
		if !full.Add(Span{100 * i, 50}, 2000) {
			b.Fatal("not added")
		}
	}
	for _, c := range []struct {
		name string
		add  Span
	}{{"at the end", Span{1550, 10}}, {"inside the first", Span{10, 10}}, {"one too many", Span{1900, 10}}} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				d := full
				if !d.Add(c.add, 2000) {
					b.Fatal("not added")
				}
			}
		})
	}
}
