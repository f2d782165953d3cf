package resource

import (
	"fmt"
	"iter"

	"github.com/orwl/go-orwl/resource/internal/coherence"
)

// changes remembers which bytes the last few writes have changed. A resource has
// none until a writer names bytes for the first time. The writer names them as Ranges.
type changes struct {
	last [keptChanges]change
}

type change struct {
	version uint64
	dirty   Ranges
}

// keptChanges is how many writes are remembered.
const keptChanges = 8

// Dirty names bytes that the place has changed, in as many calls as it takes. A place
// that names some must name all that it changed: others then need not look at the
// rest. A place that asked for Writable and names none may have changed all.
func (p *Place) Dirty(changed Range) error {
	if err := p.mayWrite("mark"); err != nil {
		return err
	}
	x := p.extra()
	if x.dirty == nil {
		x.dirty = new(Ranges)
	}
	if err := x.dirty.Add(changed, len(p.r.buffer.Bytes())); err != nil {
		return p.error("mark", err)
	}
	if p.r.changes == nil {
		p.r.changes = new(changes)
	}
	p.beginWrite()
	return nil
}

// Changed returns the bytes in which the resource may differ from an earlier version of
// it. It returns all bytes if this place has written, if a writer since then has named
// none, or if the version is more than keptChanges writes old.
func (p *Place) Changed(since uint64) (Ranges, error) {
	var all Ranges
	if p.state.Load()&heldBit == 0 {
		return all, p.error("compare", ErrNotHeld)
	}
	if p.far() {
		if err := p.over("compare"); err != nil {
			return all, err
		}
	}
	size := len(p.r.buffer.Bytes())
	if p.wrote || !p.r.changes.since(since, p.r.ledger.Version(), size, &all) {
		all.Whole(size)
	}
	return all, nil
}

// note remembers what the place of the last commit has named, or that it has named nothing.
func (r *Resource) note(x *extras) {
	version := r.ledger.Version()
	last := &r.changes.last[version%keptChanges]
	last.version = version
	if x == nil || x.dirty == nil || x.dirty.Len() == 0 {
		last.dirty.Whole(len(r.buffer.Bytes()))
		return
	}
	last.dirty = *x.dirty
	x.dirty.Reset()
}

// since adds up what has changed after a version, and reports whether that is
// known. Bytes that there are no longer do not count.
func (c *changes) since(version, now uint64, size int, all *Ranges) bool {
	if version == now {
		return true
	}
	if c == nil || version > now || now-version > keptChanges {
		return false
	}
	for v := version + 1; v <= now; v++ {
		if c.last[v%keptChanges].version != v {
			return false
		}
		for r := range c.last[v%keptChanges].dirty.All() {
			r.Len = min(r.Len, size-r.Off)
			if r.Len > 0 && all.Add(r, size) != nil {
				return false
			}
		}
	}
	return true
}

// Range is Len bytes of a resource, from the byte Off on.
type Range struct{ Off, Len int }

// end is the first byte behind the range.
func (r Range) end() int { return r.Off + r.Len }

// within reports whether the range is one of size bytes.
func (r Range) within(size int) bool {
	return r.Off >= 0 && r.Len >= 0 && r.Len <= size-r.Off
}

// RangeError is a range that is not within its resource.
type RangeError struct {
	Range Range
	Size  int // of the resource
}

func (e *RangeError) Error() string {
	return fmt.Sprintf("resource: %d bytes from byte %d on are not within a resource of %d: resize it first, or name fewer", e.Range.Len, e.Range.Off, e.Size)
}

// MostRanges is how many ranges are kept apart.
const MostRanges = 16

// Ranges are the bytes that a writer has changed: ordered ranges that neither overlap
// nor touch. There are at most MostRanges of them. Before there would be more, the two
// with the smallest gap between them become one, and the gap counts as changed. The
// zero value is empty, and no method allocates.
type Ranges struct {
	n  int
	at [MostRanges + 1]Range // one more while there are too many
}

// Add adds a range, which must be one of size bytes: otherwise it is a *RangeError
// and nothing is added.
func (d *Ranges) Add(r Range, size int) error {
	if !r.within(size) {
		return &RangeError{r, size}
	}
	if r.Len == 0 {
		return nil
	}
	i := d.n // the first that does not end before r: found from behind, where most are added
	for i > 0 && d.at[i-1].end() >= r.Off {
		i--
	}
	j := i // the first from there on that begins behind r
	for j < d.n && d.at[j].Off <= r.end() {
		j++
	}
	if i == j {
		d.insert(i, r)
		return nil
	}
	off, end := min(r.Off, d.at[i].Off), max(r.end(), d.at[j-1].end())
	d.replace(i, j, Range{off, end - off})
	return nil
}

// insert puts r before at[i], and keeps the bound.
func (d *Ranges) insert(i int, r Range) {
	copy(d.at[i+1:], d.at[i:d.n])
	d.at[i] = r
	if d.n++; d.n <= MostRanges {
		return
	}
	least := 1
	for k := 2; k < d.n; k++ {
		if d.gap(k) < d.gap(least) {
			least = k
		}
	}
	off, end := d.at[least-1].Off, d.at[least].end()
	d.replace(least-1, least+1, Range{off, end - off})
}

// gap is the distance between at[k-1] and at[k].
func (d *Ranges) gap(k int) int { return d.at[k].Off - d.at[k-1].end() }

// replace puts r in the place of at[i:j].
func (d *Ranges) replace(i, j int, r Range) {
	d.at[i] = r
	copy(d.at[i+1:], d.at[j:d.n])
	d.n -= j - i - 1
}

// Whole makes it one range of all size bytes: for a writer that names nothing, or
// resizes. size is not negative.
func (d *Ranges) Whole(size int) {
	d.n = 0
	if size > 0 {
		d.n, d.at[0] = 1, Range{0, size}
	}
}

// Reset makes it empty.
func (d *Ranges) Reset() { d.n = 0 }

// Len is how many ranges there are.
func (d *Ranges) Len() int { return d.n }

// Bytes is how many bytes are in the ranges.
func (d *Ranges) Bytes() (n int) {
	for _, r := range d.at[:d.n] {
		n += r.Len
	}
	return n
}

// All yields the ranges, in order. They must not change meanwhile.
func (d *Ranges) All() iter.Seq[Range] {
	return func(yield func(Range) bool) {
		for _, r := range d.at[:d.n] {
			if !yield(r) {
				return
			}
		}
	}
}

// noteChanges notes what a mirror has written, for readers that ask what has changed.
func (h *home) noteChanges(m *coherence.Message) {
	r := h.r
	if m.Whole && r.changes == nil {
		return
	}
	if r.changes == nil {
		r.changes = new(changes)
	}
	var x extras
	if !m.Whole {
		x.dirty = new(Ranges)
		for _, s := range m.Spans {
			_ = x.dirty.Add(Range(s), m.Size)
		}
	}
	r.note(&x)
}
