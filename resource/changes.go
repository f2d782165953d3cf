package resource

import (
	"fmt"
	"iter"
)

// A writer may name the bytes that it has changed. If the home is on another node, its release
// sends only those.

// Dirty names bytes that the place has changed, in as many calls as it takes. A place
// that names some must name all that it changed: the rest may not come to the home. A place
// that asked for Writable and names none may have changed all.
func (p *Place) Dirty(changed Range) error {
	if err := p.mayWrite("mark"); err != nil {
		return err
	}
	x := p.extra()
	if x.dirty == nil {
		x.dirty = new(ranges)
	}
	if err := x.dirty.add(changed, len(p.r.buffer.Bytes())); err != nil {
		return p.error("mark", err)
	}
	p.beginWrite()
	return nil
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

// mostRanges is how many ranges are kept apart.
const mostRanges = 16

// ranges are the bytes that a writer has changed: ordered ranges that neither overlap
// nor touch. There are at most mostRanges of them. Before there would be more, the two
// with the smallest gap between them become one, and the gap counts as changed. The
// zero value is empty, and no method allocates.
type ranges struct {
	n  int
	at [mostRanges + 1]Range // one more while there are too many
}

// add adds a range, which must be one of size bytes: otherwise it is a *RangeError
// and nothing is added.
func (d *ranges) add(r Range, size int) error {
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
func (d *ranges) insert(i int, r Range) {
	copy(d.at[i+1:], d.at[i:d.n])
	d.at[i] = r
	if d.n++; d.n <= mostRanges {
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
func (d *ranges) gap(k int) int { return d.at[k].Off - d.at[k-1].end() }

// replace puts r in the place of at[i:j].
func (d *ranges) replace(i, j int, r Range) {
	d.at[i] = r
	copy(d.at[i+1:], d.at[j:d.n])
	d.n -= j - i - 1
}

// whole makes it one range of all size bytes: for a writer that names nothing, or
// resizes. size is not negative.
func (d *ranges) whole(size int) {
	d.n = 0
	if size > 0 {
		d.n, d.at[0] = 1, Range{0, size}
	}
}

// reset makes it empty.
func (d *ranges) reset() { d.n = 0 }

// bytes is how many bytes are in the ranges.
func (d *ranges) bytes() (n int) {
	for _, r := range d.at[:d.n] {
		n += r.Len
	}
	return n
}

// all yields the ranges, in order. They must not change meanwhile.
func (d *ranges) all() iter.Seq[Range] {
	return func(yield func(Range) bool) {
		for _, r := range d.at[:d.n] {
			if !yield(r) {
				return
			}
		}
	}
}
