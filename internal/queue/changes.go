package queue

import (
	"fmt"

	"github.com/orwl/go-orwl/internal/queue/coherence"
)

// A writer may name the bytes that it has changed. Then only those go to other nodes: with its release if the
// home is elsewhere, and with the next grants of nodes that have a version of shortly before.

// Range is Len bytes of a resource, from the byte Off on.
type Range struct{ Off, Len int }

// RangeError is a range that is not within its resource.
type RangeError struct {
	Range Range
	Size  int // of the resource
}

func (e *RangeError) Error() string {
	return fmt.Sprintf("resource: %d bytes from byte %d on are not within a resource of %d: resize it first, or name fewer", e.Range.Len, e.Range.Off, e.Size)
}

// Dirty names bytes that the place has changed, in as many calls as it takes. A place
// that names some must name all that it changed: the rest may not come to other nodes. A place
// that asked for Writable and names none may have changed all.
func (p *Place) Dirty(changed Range) error {
	if err := p.mayWrite("mark"); err != nil {
		return err
	}
	if size := len(p.r.buffer.Bytes()); !p.changes().Add(coherence.Span(changed), size) {
		return p.error("mark", &RangeError{changed, size})
	}
	p.beginWrite()
	return nil
}

// WritablePart is Writable for a part of the bytes, and names this part as Dirty does. Call it
// for as many parts as change. A place that also asks for all bytes by Writable, before or
// afterwards, may have changed all.
func (p *Place) WritablePart(part Range) ([]byte, error) {
	if err := p.mayWrite("map"); err != nil {
		return nil, err
	}
	size, changed := len(p.r.buffer.Bytes()), p.changes()
	named := !p.wrote || changed.Bytes() > 0
	if !named {
		changed.Whole(size) // it has asked for all
	}
	if !changed.Add(coherence.Span(part), size) {
		return nil, p.error("map", &RangeError{part, size})
	}
	p.x.parts = false
	b, err := p.Writable()
	p.x.parts = named
	if err != nil {
		return nil, err
	}
	return b[part.Off:][:part.Len:part.Len], nil
}

// changes are what the place has named since it was granted.
func (p *Place) changes() *coherence.Changes {
	x := p.extra()
	if x.dirty == nil {
		x.dirty = new(coherence.Changes)
	}
	return x.dirty
}
