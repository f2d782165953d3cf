package resource

import (
	"context"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// history is what changes should be: the bytes of every version, and for each
// write the bytes that it may have changed.
type history struct {
	versions [][]byte
	named    [][]bool // by the write that made the version; nil: all
}

// may is a bitmap of the bytes in which the last version may differ from an
// earlier one.
func (h *history) may(since uint64) (bits []bool) {
	now := len(h.versions) - 1
	bits = make([]bool, len(h.versions[now]))
	for v := since + 1; v <= uint64(now); v++ {
		for i := range bits {
			bits[i] = bits[i] || h.named[v] == nil || i < len(h.named[v]) && h.named[v][i]
		}
	}
	return bits
}

// TestChangesAreABitmap has two writers name some of what they write, or nothing,
// resize, and asks what has changed since any version.
func TestChangesAreABitmap(t *testing.T) {
	ctx := context.Background()
	rapid.Check(t, func(t *rapid.T) {
		right := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		size := 64
		r, err := New("r", size)
		right(err)
		var writers [2]Place
		var reader Place
		h := history{versions: [][]byte{make([]byte, size)}, named: [][]bool{nil}}
		everNamed := false
		for range rapid.IntRange(1, 24).Draw(t, "writes") {
			p := &writers[rapid.IntRange(0, 1).Draw(t, "writer")]
			right(p.Request(r, Write))
			right(p.Acquire(ctx))
			if got, want := p.Version(), uint64(len(h.versions)-1); got != want {
				t.Fatalf("version %d, want %d", got, want)
			}
			named := make([]bool, size)
			some, mapped := false, false
			now := slices.Clone(h.versions[len(h.versions)-1])
			for range rapid.IntRange(0, 4).Draw(t, "steps") {
				switch rapid.IntRange(0, 5).Draw(t, "step") {
				case 0: // says nothing
					b, err := p.Writable()
					right(err)
					mapped = true
					for i := range b {
						b[i]++
						now[i]++
					}
					// A writer may change more than it names.
				case 1: // of another size
					old := size
					size = 8 * rapid.IntRange(0, 12).Draw(t, "words")
					right(p.Resize(size))
					now = append(now[:min(old, size)], make([]byte, max(0, size-old))...)
					if size != old {
						some = true
						named = slices.Repeat([]bool{true}, size)
					} else if !mapped && !some {
						continue
					}
					mapped = true
				default:
					off := rapid.IntRange(0, size).Draw(t, "off")
					n := rapid.IntRange(0, size-off).Draw(t, "len")
					b, err := p.Writable()
					right(err)
					for i := off; i < off+n; i++ {
						b[i]++
						now[i]++
						named[i] = true
					}
					mapped, some = true, some || n > 0
					everNamed = true
					right(p.Dirty(Range{off, n}))
				}
				changed, err := p.Changed(p.Version())
				right(err)
				if mapped && changed.Bytes() != size {
					t.Fatalf("in the middle of a write %d of %d bytes may have changed", changed.Bytes(), size)
				}
			}
			right(p.Release())
			if mapped {
				h.versions = append(h.versions, now)
				if !some {
					named = nil
				}
				h.named = append(h.named, named)
			}
			right(reader.Request(r, Read))
			right(reader.Acquire(ctx))
			version := uint64(len(h.versions) - 1)
			if reader.Version() != version {
				t.Fatalf("version %d, want %d", reader.Version(), version)
			}
			for since := uint64(0); since <= version+1; since++ {
				got, err := reader.Changed(since)
				right(err)
				bits := make([]bool, size)
				for c := range got.All() {
					if !c.within(size) {
						t.Fatalf("%v of %d bytes may have changed", c, size)
					}
					for i := c.Off; i < c.end(); i++ {
						bits[i] = true
					}
				}
				// The answer is exact while the resource knows: ranges this short never
				// merge over a gap.
				want := slices.Repeat([]bool{true}, size)
				switch known := since+keptChanges >= version && since <= version && everNamed; {
				case since == version:
					want = make([]bool, size)
				case known:
					exact := h.may(since)
					for i := range exact {
						if exact[i] && !bits[i] {
							t.Fatalf("byte %d may have changed since %d, and is none of %v", i, since, slices.Collect(got.All()))
						}
					}
					// Until a writer has named bytes for the first time, all bytes may
					// count as changed.
					if runs(exact) <= MostRanges && !slices.Equal(bits, want) {
						want = exact
					}
				}
				if !slices.Equal(bits, want) {
					t.Fatalf("since version %d of %d: %v, want the bits %v", since, version, slices.Collect(got.All()), want)
				}
			}
			right(reader.Release())
		}
	})
}

// runs counts how often a bitmap begins to be set.
func runs(bits []bool) (n int) {
	for i := range bits {
		if bits[i] && (i == 0 || !bits[i-1]) {
			n++
		}
	}
	return n
}

// The resource remembers the last eight writes, from the first write that named its
// ranges.
func TestChangesAreForgotten(t *testing.T) {
	r := newResource(t, 800)
	var p Place
	fine(t, p.Request(r, Write))
	for i := range 20 {
		fine(t, p.Acquire(t.Context()))
		for since := range p.Version() + 1 {
			changed, err := p.Changed(since)
			want := 8 * int(p.Version()-since)
			if p.Version()-since > keptChanges {
				want = 800
			}
			if err != nil || changed.Bytes() != want {
				t.Errorf("since version %d of %d: %d bytes, %v, want %d", since, p.Version(), changed.Bytes(), err, want)
			}
		}
		fine(t, p.Dirty(Range{16 * i, 8}))
		fine(t, p.Renew())
	}
}

// Resizing changes all bytes, whatever the writer names before or afterwards.
func TestResizeChangesAll(t *testing.T) {
	for name, when := range map[string]func(p *Place){
		"named before":     func(p *Place) { fine(t, p.Dirty(Range{0, 8})); fine(t, p.Resize(32)) },
		"named afterwards": func(p *Place) { fine(t, p.Resize(32)); fine(t, p.Dirty(Range{0, 8})) },
		"to and fro": func(p *Place) {
			fine(t, p.Resize(8))
			fine(t, p.Resize(0))
			fine(t, p.Resize(32))
			fine(t, p.Dirty(Range{24, 8}))
		},
	} {
		r := newResource(t, 16)
		var p Place
		fine(t, p.Request(r, Write))
		for range 2 {
			fine(t, p.Acquire(t.Context()))
			fine(t, p.Dirty(Range{0, 8}))
			fine(t, p.Renew())
		}
		fine(t, p.Acquire(t.Context()))
		when(&p)
		fine(t, p.Renew())
		fine(t, p.Acquire(t.Context()))
		if got, err := p.Changed(2); err != nil || got.Bytes() != 32 {
			t.Errorf("%s: %d bytes may have changed, %v, want all 32", name, got.Bytes(), err)
		}
		if got, err := p.Changed(3); err != nil || got.Bytes() != 0 {
			t.Errorf("%s: %d bytes may have changed since now, %v", name, got.Bytes(), err)
		}
	}
}

// Naming ranges allocates once only.
func TestDirtyAllocatesNothing(t *testing.T) {
	r := newResource(t, 800)
	var p Place
	fine(t, p.Request(r, Write))
	ctx := context.Background()
	round := func() {
		fine(t, p.Acquire(ctx))
		fine(t, p.Dirty(Range{0, 8}))
		fine(t, p.Dirty(Range{64, 8}))
		if got, err := p.Changed(0); err != nil || got.Len() == 0 {
			t.Error(got, err)
		}
		fine(t, p.Renew())
	}
	if n := testing.AllocsPerRun(50, round); n != 0 {
		t.Errorf("a round with names allocates %v times", n)
	}
}
