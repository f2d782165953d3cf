package versions

import (
	"fmt"
	"slices"

	"github.com/orwl/go-orwl/internal/invariant"
)

// kept is a version that came before its base, in memory of its own.
type kept struct {
	entry
	used bool
}

// Take takes a message of another node. It keeps nothing of header and bulk.
func (n *Node) Take(from int, header, bulk []byte, w *Work) error {
	if err := n.parse(from, header, bulk, w); err != nil {
		return err
	}
	for i := range w.entries {
		e := &w.entries[i]
		if e.link != nil && (e.kind == takenEntry && !e.link.wasSent(e.shows) || !e.link.arrived(e.shows, w)) {
			return n.refuse(from, e, ErrUnsent)
		}
		switch e.kind {
		case creditEntry:
			w.Publish = append(w.Publish, Publication{Counter: e.counter, Round: e.value})
		case versionEntry:
			if err := n.take(e, w); err != nil {
				return n.refuse(from, e, err)
			}
		}
	}
	clear(w.entries) // they have parts of header and bulk
	return nil
}

func (n *Node) refuse(from int, e *entry, err error) error {
	switch e.kind {
	case creditEntry:
		return &MessageError{from, fmt.Sprintf("credit of counter %d: it shows version %v", e.counter, e.shows), err}
	case takenEntry:
		return &MessageError{from, fmt.Sprintf("version %v of resource %d is there", e.shows, e.resource.number), err}
	}
	return &MessageError{from, fmt.Sprintf("version %v of resource %d after %v", e.version, e.resource.number, e.base), err}
}

// take applies a version, and those that were kept for it. One that came before its base is kept.
func (n *Node) take(e *entry, w *Work) error {
	r := e.resource
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.version < e.base {
		return r.keep(e)
	}
	if err := n.apply(e, w); err != nil {
		return err
	}
	for again := true; again; {
		again = false
		for i := range r.early {
			if k := &r.early[i]; k.used && k.base <= r.version {
				if err := n.apply(&k.entry, w); err != nil {
					return err
				}
				k.used, again = false, true
			}
		}
	}
	return nil
}

// keep keeps a version. There is room for all that can be on their way at a time: see doc.go.
func (r *resource) keep(e *entry) error {
	if r.early == nil {
		r.early = make([]kept, mostInFlight-1)
	}
	i := slices.IndexFunc(r.early, func(k kept) bool { return !k.used })
	if i < 0 {
		return fmt.Errorf("%w: %v is here, and %d wait", ErrGap, r.version, len(r.early))
	}
	k := &r.early[i]
	reports, spans, bytes := k.reports[:0], k.spans[:0], k.bytes[:0]
	k.entry, k.used = *e, true
	k.reports, k.spans, k.bytes = append(reports, e.reports...), append(spans, e.spans...), append(bytes, e.bytes...)
	invariant.Sometimes(true, "a version overtakes its base")
	return nil
}

// apply makes a version whose base is here the version here: first its bytes, then the version, and the caller then
// publishes the counters. A home passes it on. The resource is locked.
func (n *Node) apply(e *entry, w *Work) error {
	r, base, version := e.resource, e.base, e.version
	if base == version { // the end of an access
		base, version = 0, 0
	} else {
		if r.version != e.base {
			return fmt.Errorf("%w: %v is here", ErrGap, r.version)
		}
		if err := r.change(e); err != nil {
			return err
		}
		if r.version == 0 {
			n.absent.Add(-1)
		}
		r.version = e.version
	}
	for _, h := range e.reports {
		if v := value(h.round, h.state == Ended); v > 0 {
			w.Publish = append(w.Publish, Publication{int(r.uses[h.position-1].Counter), v, len(e.bytes)})
		}
		n.rest(r, h)
	}
	for _, l := range r.links { // at the home; elsewhere there is only the link to it
		if l != e.link { // the writer has it
			l.note(base, version, writes{e.writes, e.idle}, e.spans, e.reports, w)
		}
	}
	if e.asks {
		e.link.mustAnswer(e.version, w)
	}
	return nil
}

// change makes the copy have the bytes of a version.
func (r *resource) change(e *entry) error {
	r.copy.Enter()
	defer r.copy.Leave()
	if err := r.write(e); err != nil {
		return err
	}
	r.copy.Came(e.writes, e.idle)
	return nil
}

// write writes the bytes of a version.
func (r *resource) write(e *entry) error {
	b := r.copy.Bytes()
	if len(b) != e.size {
		if len(e.bytes) != e.size { // memory follows what has come, not what was claimed
			return fmt.Errorf("%w: %d bytes become %d, and %d are there", ErrRange, len(b), e.size, len(e.bytes))
		}
		if err := r.copy.Resize(e.size); err != nil {
			return fmt.Errorf("%w of %d bytes: %w", ErrMemory, e.size, err)
		}
		b = r.copy.Bytes()
	}
	if e.base == 0 && !r.copy.Zero {
		clear(b) // all bytes that it does not bring are zero
	}
	r.size = e.size
	from := e.bytes
	for _, s := range e.spans {
		from = from[copy(b[s.Off:s.Off+s.Len], from):]
	}
	return nil
}
