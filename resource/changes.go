package resource

// changes remembers which bytes the last few writes have changed. A resource has
// none until a writer names bytes for the first time.
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
