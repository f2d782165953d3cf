package versions

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/orwl/go-orwl/net/wire"
)

// A message is a header and the bytes of its spans, one after the other. The header is an array in msgpack's
// format, of the number of the run and of entries:
//
//	[creditEntry, counter, round, ended]
//	[takenEntry, resource, round, position]                      the version that is here
//	[versionEntry, resource, bits, round, position, size, reports,
//	    position, round, state, ...                              for each report
//	    offset, length, ...]                                     for each span
//
// Round and position of a version entry are its base's. Its own version is the last of its reports. The first
// version of a resource has no base, and no report.

const (
	creditEntry = iota + 1
	takenEntry
	versionEntry
)

// The bits of a version entry.
const (
	asksBit = 1 // the node that has the version says so
	sameBit = 2 // no new version: an access has ended
	allBits = 3
	// Behind them stand how many writes there are since the base, and how many of them have changed nothing.
	writesShift, idleShift = 2, 33
	mostWrites             = 1 << 30
)

// The limits. A message beyond them is refused before anything is allocated for it.
const (
	// MostBytes is the size of the largest resource, and how many bytes a message brings at most.
	MostBytes = wire.MaxBulk
	// mostUses is how many accesses a resource has at most. The reports of all of them fit into a message.
	mostUses = 1 << 15
	// enoughHeader is the size from which on a header takes no further entry.
	enoughHeader = 1 << 18
	// mostSpans is how many spans a version has at most.
	mostSpans = 16
	// mostInFlight is how many messages with versions of a resource are on their way to a node at most. So a
	// receiver keeps at most one less of them.
	mostInFlight = 4
)

// limits bound a message that Pass makes: a header of this size takes no further entry, and all bulk together has at
// most so many bytes.
type limits struct{ header, bulk int }

// A message that no correct node sends has one of these errors. The entry that is refused has changed no byte, no
// version and no counter. Those before it may have been taken. The run cannot go on.
var (
	ErrMalformed = errors.New("malformed message")
	ErrOtherRun  = errors.New("message of another run")
	ErrUnknown   = errors.New("no such counter, resource, or access")
	ErrSender    = errors.New("not from the node that says this")
	ErrRange     = errors.New("size, span, or bytes out of range")
	ErrBack      = errors.New("a round that goes back")
	ErrUnsent    = errors.New("a version that was not sent there")
	ErrGap       = errors.New("a version whose base does not come")
	// ErrMemory is a copy that cannot have the size of a version.
	ErrMemory = errors.New("no memory for a version")
	// ErrLimit is a program beyond what is possible.
	ErrLimit = errors.New("versions: too large")
)

// MessageError is a message that is refused.
type MessageError struct {
	From  int
	Entry string // the entry that is refused
	Err   error
}

func (e *MessageError) Error() string {
	return fmt.Sprintf("versions: node %d: %s: %v", e.From, e.Entry, e.Err)
}

// Unwrap is the error to match.
func (e *MessageError) Unwrap() error { return e.Err }

// array32 is msgpack's form of an array whose length has four bytes. The length of a header is known last.
const array32 = 0xdd

func beginHeader(b []byte, run uint64) []byte {
	return wire.AppendUint(append(b, array32, 0, 0, 0, 0), run)
}

// endHeader writes how many entries there are.
func endHeader(b []byte, entries int) { binary.BigEndian.PutUint32(b[1:], uint32(entries+1)) }

func appendCredit(b []byte, c *credit) []byte {
	b = append(wire.AppendArray(b, 4), creditEntry)
	b = wire.AppendUint(wire.AppendUint(b, uint64(c.counter)), uint64(c.round))
	return wire.AppendBool(b, c.ended)
}

func appendTaken(b []byte, resource int, v Version) []byte {
	b = append(wire.AppendArray(b, 4), takenEntry)
	return appendNumber(wire.AppendUint(b, uint64(resource)), v)
}

func appendNumber(b []byte, v Version) []byte {
	return wire.AppendUint(wire.AppendUint(b, uint64(v.Round())), uint64(v.Position()))
}

// appendVersion appends what waits.
func (l *link) appendVersion(b []byte, asks bool) []byte {
	bits := uint64(min(l.writes, mostWrites))<<writesShift | uint64(min(l.idle, mostWrites))<<idleShift
	if asks {
		bits |= asksBit
	}
	if l.base == l.version {
		bits |= sameBit
	}
	b = wire.AppendArray(b, 7+3*len(l.reports)+2*len(l.changed.all))
	b = wire.AppendUint(append(b, versionEntry), uint64(l.resource.number))
	b = appendNumber(wire.AppendUint(b, bits), l.base)
	b = wire.AppendUint(wire.AppendUint(b, uint64(l.size)), uint64(len(l.reports)))
	for _, h := range l.reports {
		b = wire.AppendUint(wire.AppendUint(b, uint64(h.position)), uint64(h.round))
		b = append(b, byte(h.state))
	}
	for _, s := range l.changed.all {
		b = wire.AppendUint(wire.AppendUint(b, uint64(s.Off)), uint64(s.Len))
	}
	return b
}

// entry is an entry of a message that was checked.
type entry struct {
	kind     int
	link     *link   // to the sender; nil if no versions go there
	counter  int     // credit
	shows    Version // the sender has this version
	value    uint32  // credit: what the counter publishes
	resource *resource
	base     Version
	version  Version
	asks     bool
	writes   int // since the base
	idle     int // the writes that have changed nothing
	size     int
	reports  []report
	spans    []Span
	bytes    []byte
}

// parser reads a message.
type parser struct {
	n    *Node
	from int
	r    wire.Reader
	bulk []byte // the bytes that no span has taken
	w    *Work
}

// parse checks a message, and has its entries in w.
func (n *Node) parse(from int, header, bulk []byte, w *Work) error {
	w.entries, w.reports, w.spans = w.entries[:0], w.reports[:0], w.spans[:0]
	p := parser{n, from, wire.NewReader(header), bulk, w}
	all, run := p.r.Array(), p.r.Uint()
	if err := p.r.Err(); err != nil {
		return p.refuse(ErrMalformed, "header of %d bytes: %v", len(header), err)
	}
	if run != n.o.Run {
		return p.refuse(ErrOtherRun, "run %d, want %d", run, n.o.Run)
	}
	for range all - 1 {
		fields, kind := p.r.Array(), p.r.Uint()
		var err error
		switch {
		case kind == creditEntry && fields == 4:
			err = p.credit()
		case kind == takenEntry && fields == 4:
			err = p.taken()
		case kind == versionEntry && fields >= 7:
			err = p.version(fields - 7)
		default:
			err = p.refuse(ErrMalformed, "entry %d of %d fields", kind, fields)
		}
		if err != nil {
			return err
		}
		if err := p.r.Err(); err != nil {
			return p.refuse(ErrMalformed, "entry %d: %v", len(w.entries), err)
		}
	}
	if err := p.r.Done(); err != nil {
		return p.refuse(ErrMalformed, "header of %d bytes: %v", len(header), err)
	}
	if len(p.bulk) > 0 {
		return p.refuse(ErrRange, "bulk of %d bytes: %d are left over", len(bulk), len(p.bulk))
	}
	return nil
}

func (p *parser) refuse(err error, format string, args ...any) error {
	return &MessageError{p.from, fmt.Sprintf(format, args...), err}
}

func (p *parser) uint32() uint32 { return uint32(p.r.UintTo(1<<32 - 1)) }

// resource reads the number of a resource that has a copy here.
func (p *parser) resource() (*resource, error) {
	r := p.r.Uint()
	if r >= uint64(len(p.n.resources)) || p.n.resources[r] == nil {
		return nil, p.refuse(ErrUnknown, "resource %d, which has no copy on both nodes", r)
	}
	return p.n.resources[r], nil
}

// credit reads the round of a read.
func (p *parser) credit() error {
	c, round, ended := p.r.Uint(), p.uint32(), p.r.Bool()
	switch {
	case p.r.Err() != nil:
		return nil
	case c >= uint64(len(p.n.uses)) || !p.n.uses[c].heard:
		return p.refuse(ErrUnknown, "credit of counter %d, round %d: no access here waits for it", c, round)
	}
	u := &p.n.uses[c]
	r := p.n.resources[u.resource]
	e := entry{kind: creditEntry, counter: int(c), value: value(round, ended), link: r.linkTo(p.from)}
	if round > 0 {
		e.shows = version(round, uint32(u.position)) - 1
	}
	switch {
	case int(u.node) != p.from:
		return p.refuse(ErrSender, "credit of counter %d, round %d: it is of node %d", c, round, u.node)
	case e.value == 0 || round > mostRounds:
		return p.refuse(ErrMalformed, "credit of counter %d, round %d", c, round)
	}
	p.w.entries = append(p.w.entries, e)
	return nil
}

// taken reads a version that is on the other node.
func (p *parser) taken() error {
	r, err := p.resource()
	v := version(p.uint32(), p.uint32())
	if err != nil {
		return err
	}
	l := r.linkTo(p.from)
	if l == nil {
		return p.refuse(ErrSender, "version %v of resource %d is there: no versions go there", v, r.number)
	}
	p.w.entries = append(p.w.entries, entry{kind: takenEntry, resource: r, link: l, shows: v})
	return nil
}

// version reads a version with so many fields for reports and spans.
func (p *parser) version(fields int) error {
	r, err := p.resource()
	if err != nil {
		return err
	}
	bits, base := p.r.Uint(), version(p.uint32(), p.uint32())
	size, reports := p.r.Uint(), p.r.Uint()
	rest := fields - 3*int(min(reports, mostUses))
	e := entry{kind: versionEntry, resource: r, link: r.linkTo(p.from), shows: base, base: base, asks: bits&asksBit != 0, writes: int(bits >> writesShift & (2*mostWrites - 1)), idle: int(bits >> idleShift)}
	switch {
	case p.r.Err() != nil:
		return nil
	case e.link == nil:
		return p.refuse(ErrSender, "version after %v of resource %d: it does not use the resource, nor is its home", base, r.number)
	case reports > uint64(len(r.uses)) || rest < 0 || rest%2 != 0 || rest > 2*mostSpans:
		return p.refuse(ErrMalformed, "version after %v of resource %d: %d reports, and %d fields", base, r.number, reports, fields)
	case base > First && !r.writes(base):
		return p.refuse(ErrUnknown, "version after %v of resource %d: nobody writes that", base, r.number)
	case e.writes > mostWrites || e.idle > e.writes:
		return p.refuse(ErrMalformed, "version after %v of resource %d: %d writes, %d idle ones", base, r.number, e.writes, e.idle)
	case size > uint64(p.n.o.Most):
		return p.refuse(ErrRange, "version after %v of resource %d: %d bytes, at most %d are possible", base, r.number, size, p.n.o.Most)
	}
	e.size = int(size)
	at := len(p.w.reports)
	for range reports {
		h := report{p.uint32(), p.uint32(), State(p.r.UintTo(uint64(Ended)))}
		if p.r.Err() != nil {
			return nil
		}
		if err := p.report(&e, h); err != nil {
			return err
		}
		p.w.reports = append(p.w.reports, h)
	}
	e.reports = p.w.reports[at:len(p.w.reports):len(p.w.reports)]
	switch same := bits&sameBit != 0; {
	case same && (e.version > base || rest > 0 || reports == 0):
		return p.refuse(ErrMalformed, "end after %v of resource %d: version %v, %d reports, %d fields of spans", base, r.number, e.version, reports, rest)
	case same:
		e.version = base
	case base == 0 && r.home == p.n.o.Node:
		return p.refuse(ErrSender, "the first version of resource %d: this node is its home", r.number)
	case base == 0:
		e.version = max(e.version, First)
	case e.version <= base:
		return p.refuse(ErrBack, "version %v after %v of resource %d", e.version, base, r.number)
	}
	at = len(p.w.spans)
	if err := p.spans(&e, rest/2); err != nil {
		return err
	}
	e.spans = p.w.spans[at:len(p.w.spans):len(p.w.spans)]
	p.w.entries = append(p.w.entries, e)
	return nil
}

// report checks a report, and has the entry be of its version if this is the last one.
func (p *parser) report(e *entry, h report) error {
	r, home := e.resource, e.resource.home == p.n.o.Node
	if !r.writes(h.version()) {
		return p.refuse(ErrUnknown, "version %v of resource %d: that access does not write it", h.version(), r.number)
	}
	u := r.uses[h.position-1]
	switch {
	case home && int(u.Node) != p.from, int(u.Node) == p.n.o.Node:
		return p.refuse(ErrSender, "version %v of resource %d: it is of node %d", h.version(), r.number, u.Node)
	case h.round > mostRounds:
		return p.refuse(ErrMalformed, "version %v of resource %d", h.version(), r.number)
	case h.version() <= e.base && h.state == Goes:
		return p.refuse(ErrBack, "version %v after %v of resource %d", h.version(), e.base, r.number)
	}
	if h.round > 0 {
		e.version = max(e.version, h.version())
	}
	return nil
}

// writes reports whether an access of the version's position writes the resource.
func (r *resource) writes(v Version) bool {
	p := v.Position()
	return p > 0 && p <= uint32(len(r.uses)) && r.uses[p-1].Writes
}

// spans reads so many spans, and takes their bytes.
func (p *parser) spans(e *entry, n int) error {
	total, end := 0, 0
	for range n {
		off, length := p.r.UintTo(MostBytes), p.r.UintTo(MostBytes)
		if p.r.Err() != nil {
			return nil
		}
		if s := (Span{int(off), int(length)}); s.Off < end || s.Len == 0 || s.Len > e.size-s.Off {
			return p.refuse(ErrRange, "version %v of resource %d: %d bytes from byte %d on, after %d, of %d", e.version, e.resource.number, length, off, end, e.size)
		}
		end = int(off + length)
		total += int(length)
		p.w.spans = append(p.w.spans, Span{int(off), int(length)})
	}
	if total > len(p.bulk) {
		return p.refuse(ErrRange, "version %v of resource %d: %d bytes, and %d are there", e.version, e.resource.number, total, len(p.bulk))
	}
	e.bytes, p.bulk = p.bulk[:total:total], p.bulk[total:]
	return nil
}
