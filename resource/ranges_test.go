package resource

import (
	"errors"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// bitmap is the reference for ranges: a bit for each byte. It searches for the runs of
// bits anew each time.
type bitmap []bool

func (b bitmap) runs() (runs []Range) {
	for i := 0; i < len(b); i++ {
		if from := i; b[i] {
			for i < len(b) && b[i] {
				i++
			}
			runs = append(runs, Range{from, i - from})
		}
	}
	return runs
}

func (b bitmap) add(r Range) {
	b.fill(r)
	runs := b.runs()
	if len(runs) <= mostRanges {
		return
	}
	var gaps []Range
	for i, next := range runs[1:] {
		gaps = append(gaps, Range{runs[i].end(), next.Off - runs[i].end()})
	}
	b.fill(slices.MinFunc(gaps, func(a, b Range) int { return a.Len - b.Len }))
}

func (b bitmap) fill(r Range) {
	for i := r.Off; i < r.end(); i++ {
		b[i] = true
	}
}

func TestRangesAreABitmap(t *testing.T) {
	full := 0 // runs that reached the bound
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.SampledFrom([]int{8, 64, 200, 1000}).Draw(t, "size")
		var d ranges
		model := make(bitmap, size)
		for range 60 {
			switch rapid.IntRange(0, 1<<20).Draw(t, "step") {
			case 3:
				d.reset()
				clear(model)
			case 4:
				d.whole(size)
				model.fill(Range{0, size})
			default:
				// This scatters the offsets, since rapid draws small numbers most
				// often.
				off := rapid.IntRange(0, size).Draw(t, "off") * 7919 % (size + 1)
				r := Range{off, rapid.IntRange(0, min(9, size-off)).Draw(t, "len")}
				if err := d.add(r, size); err != nil {
					t.Fatal(err)
				}
				model.add(r)
			}
			got, want := slices.Collect(d.all()), model.runs()
			if !slices.Equal(got, want) {
				t.Fatalf("got %v, want %v", got, want)
			}
			bytes := 0
			for _, r := range want {
				bytes += r.Len
			}
			if d.n != len(want) || d.bytes() != bytes {
				t.Fatalf("%d ranges of %d bytes, want %d of %d", d.n, d.bytes(), len(want), bytes)
			}
			if len(want) == mostRanges {
				full++
			}
		}
	})
	if full == 0 {
		t.Error("no run came to as many ranges as there may be")
	}
}

// The smallest gap closes; of equal ones, the first.
func TestTooManyRanges(t *testing.T) {
	var d ranges
	for i := range mostRanges {
		if err := d.add(Range{10 * i, 1}, 1000); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		add, joined Range
		bytes       int
	}{
		{Range{154, 2}, Range{150, 6}, 21},    // behind all, near the last
		{Range{305, 1}, Range{0, 11}, 31},     // behind all: the others are nearer to each other
		{Range{27, 2}, Range{27, 4}, 34},      // between
		{Range{500, 400}, Range{20, 11}, 440}, // behind all
	} {
		if err := d.add(c.add, 1000); err != nil {
			t.Fatal(err)
		}
		if all := slices.Collect(d.all()); len(all) != mostRanges || !slices.Contains(all, c.joined) || d.bytes() != c.bytes {
			t.Errorf("after %v: %v with %d bytes, want one %v and %d bytes", c.add, all, d.bytes(), c.joined, c.bytes)
		}
	}
}

func TestRangesRefuse(t *testing.T) {
	for _, r := range []Range{
		{-1, 1}, {0, -1}, {0, 65}, {64, 1}, {65, 0}, {1, 64}, {-8, 8}, {63, 2},
		{math.MaxInt, 1}, {1, math.MaxInt}, {math.MaxInt, math.MaxInt}, {math.MinInt, math.MinInt}, {2, math.MinInt},
	} {
		var d ranges
		d.whole(8)
		err := d.add(r, 64)
		if e := (*RangeError)(nil); !errors.As(err, &e) || e.Range != r || e.Size != 64 {
			t.Errorf("adding %v of 64 bytes: %v, want a *RangeError about it", r, err)
		}
		if d.n != 1 || d.bytes() != 8 {
			t.Errorf("a refused range changed the others to %v", slices.Collect(d.all()))
		}
	}
	want := "resource: 2 bytes from byte 63 on are not within a resource of 64: resize it first, or name fewer"
	if got := (&RangeError{Range{63, 2}, 64}).Error(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestRangesOfNothing(t *testing.T) {
	var d ranges
	if d.whole(0); d.n != 0 {
		t.Error("the whole of nothing is a range")
	}
	for _, off := range []int{0, 4, 8} {
		if err := d.add(Range{off, 0}, 8); err != nil || d.n != 0 {
			t.Errorf("no byte at %d: %v, %d ranges", off, err, d.n)
		}
	}
}

func TestRangesEndWhenTold(t *testing.T) {
	var d ranges
	for i := range 4 {
		if err := d.add(Range{2 * i, 1}, 8); err != nil {
			t.Fatal(err)
		}
	}
	seen := 0
	for range d.all() {
		if seen++; seen == 2 {
			break
		}
	}
	if seen != 2 {
		t.Errorf("a loop that broke off after 2 ranges saw %d", seen)
	}
}

func TestRangesAllocateNothing(t *testing.T) {
	var d ranges
	sum := 0
	if n := testing.AllocsPerRun(100, func() {
		d.reset()
		for i := range 100 {
			if err := d.add(Range{i * 37 % 100 * 10, 4}, 1000); err != nil {
				t.Fatal(err)
			}
		}
		for r := range d.all() {
			sum += r.Len
		}
		if sum == 0 {
			t.Fatal("nothing was added")
		}
	}); n != 0 {
		t.Errorf("100 ranges allocate %v times", n)
	}
}

// One range more, at each position where it may come.
func BenchmarkRangesAdd(b *testing.B) {
	var full ranges
	for i := range mostRanges {
		if err := full.add(Range{100 * i, 50}, 2000); err != nil {
			b.Fatal(err)
		}
	}
	for _, c := range []struct {
		name string
		add  Range
	}{{"at the end", Range{1550, 10}}, {"inside the first", Range{10, 10}}, {"one too many", Range{1900, 10}}} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				d := full
				if err := d.add(c.add, 2000); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
