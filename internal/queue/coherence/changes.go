package coherence

import "github.com/orwl/go-orwl/internal/invariant"

// The bytes that writers have changed. A writer may name them. Then a release sends only those, and a grant
// only what has changed since the version that the mirror has.

// Span is Len bytes of the contents, from the byte Off on.
type Span struct{ Off, Len int }

// end is the first byte behind the span.
func (r Span) end() int { return r.Off + r.Len }

// mostChanges is how many spans are kept apart.
const mostChanges = 16

// Changes are the bytes that a writer has changed: ordered spans that neither overlap
// nor touch. There are at most mostChanges of them. Before there would be more, the two
// with the smallest gap between them become one, and the gap counts as changed. The
// zero value is empty, and no method allocates.
type Changes struct {
	n  int
	at [mostChanges + 1]Span // one more while there are too many
}

// Add adds a span, and reports whether it is one of size bytes. Otherwise it adds nothing.
func (d *Changes) Add(r Span, size int) bool {
	if r.Off < 0 || r.Len < 0 || r.Len > size-r.Off {
		return false
	}
	if r.Len == 0 {
		return true
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
		return true
	}
	off, end := min(r.Off, d.at[i].Off), max(r.end(), d.at[j-1].end())
	d.replace(i, j, Span{off, end - off})
	return true
}

// insert puts r before at[i], and keeps the bound.
func (d *Changes) insert(i int, r Span) {
	copy(d.at[i+1:], d.at[i:d.n])
	d.at[i] = r
	if d.n++; d.n <= mostChanges {
		return
	}
	least := 1
	for k := 2; k < d.n; k++ {
		if d.gap(k) < d.gap(least) {
			least = k
		}
	}
	off, end := d.at[least-1].Off, d.at[least].end()
	d.replace(least-1, least+1, Span{off, end - off})
}

// gap is the distance between at[k-1] and at[k].
func (d *Changes) gap(k int) int { return d.at[k].Off - d.at[k-1].end() }

// replace puts r in the place of at[i:j].
func (d *Changes) replace(i, j int, r Span) {
	d.at[i] = r
	copy(d.at[i+1:], d.at[j:d.n])
	d.n -= j - i - 1
}

// Whole makes it one span of all size bytes: for a writer that names nothing, or
// resizes. size is not negative.
func (d *Changes) Whole(size int) {
	d.n = 0
	if size > 0 {
		d.n, d.at[0] = 1, Span{0, size}
	}
}

// Reset makes it empty.
func (d *Changes) Reset() { d.n = 0 }

// Bytes is how many bytes are in the spans.
func (d *Changes) Bytes() (n int) {
	for _, r := range d.at[:d.n] {
		n += r.Len
	}
	return n
}

// Spans are they, in order, good until the next change.
func (d *Changes) Spans() []Span { return d.at[:d.n] }

// Part are the spans, or nil if they are none or all of size bytes: then all may have changed.
func (d *Changes) Part(size int) []Span {
	if n := d.Bytes(); n == 0 || n == size {
		return nil
	}
	return d.Spans()
}

// mostKept is how many versions a home keeps the changes of.
const mostKept = 8

// history is what each of the last versions changed, if its writer has named that. A version without an
// entry may have changed all. So a resize, a relaxed write, half-written bytes and a writer that names
// nothing need not be told to the history.
type history [mostKept]struct {
	version uint64
	Changes
}

// Changed notes that the last commit changed only the spans, and no size. It notes nothing if there are none,
// and until a mirror has had some version.
func (l *Ledger) Changed(named []Span, size int) {
	if !l.shared || len(named) == 0 {
		return
	}
	if l.history == nil {
		l.history = new(history)
	}
	v := l.version.Own()
	e := &l.history[v%mostKept]
	e.version = v
	e.Reset()
	for _, s := range named {
		e.Add(s, size)
	}
}

// since adds to all what has changed since a version, and reports whether that is known. known is one more
// than the version, 0 if there is none.
func (l *Ledger) since(known uint64, all *Changes, size int) bool {
	last := l.version.Own()
	if l.history == nil || known == 0 || known > last {
		return false
	}
	for v := known; v <= last; v++ {
		e := &l.history[v%mostKept]
		if e.version != v {
			invariant.Sometimes(last-known >= mostKept, "the history is too short: all bytes")
			return false
		}
		for _, s := range e.Spans() {
			all.Add(s, size)
		}
	}
	return true
}
