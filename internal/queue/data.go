package queue

import (
	"math"

	"github.com/orwl/go-orwl/internal/faultpage"
	"github.com/orwl/go-orwl/internal/queue/coherence"
)

// The bytes of a resource, as the place that holds it sees them: to read, to write, to resize.
// Below stand what a failed write leaves, and the fault pages that catch a late use of a view.

// Bytes is the resource's memory, to read. It is valid until the place releases.
func (p *Place) Bytes() ([]byte, error) {
	if p.state.Load()&heldBit == 0 {
		return nil, p.error("map", ErrNotHeld)
	}
	if p.x != nil && p.far() {
		if err := p.over("map"); err != nil {
			return nil, err
		}
	}
	if !p.r.buffer.Plain() {
		return p.open(Read)
	}
	return p.r.buffer.Bytes(), nil
}

// Writable is the resource's memory, to write. It is valid until the place
// releases, which then commits a new version.
func (p *Place) Writable() ([]byte, error) {
	if err := p.mayWrite("map"); err != nil {
		return nil, err
	}
	if !p.r.buffer.Plain() {
		return p.open(Write)
	}
	p.wrote = true
	return p.r.buffer.Bytes(), nil
}

// open is Bytes or Writable of a buffer that is not plain.
func (p *Place) open(m Mode) (b []byte, err error) {
	if p.r.pages() != nil {
		b, err = p.openPages(m)
	}
	if err == nil && m == Write {
		p.wrote = true
	}
	if err == nil && b == nil {
		if p.Mode() == Write && !p.far() {
			p.r.buffer.Own()
		}
		b = p.r.buffer.Bytes()
	}
	return b, err
}

// mayWrite returns an error if the place must not write.
func (p *Place) mayWrite(op string) error {
	switch s := p.state.Load(); {
	case s&heldBit == 0:
		return p.error(op, ErrNotHeld)
	case s&writeBit == 0:
		return p.error(op, ErrReadOnly)
	case p.x != nil && p.r.mirror != nil && !p.planned:
		return p.over(op)
	}
	return nil
}

// Size is how many bytes the resource has, once the place is granted; 0 before.
func (p *Place) Size() int {
	if p.Held() {
		return len(p.r.buffer.Bytes())
	}
	return p.sizeAhead()
}

// sizeAhead is Size of a place that does not hold.
func (p *Place) sizeAhead() int {
	s := p.state.Load()
	if s&requestedBit == 0 || p.planned {
		return 0
	}
	if p.r.mirror != nil {
		return p.x.remote.size(p.r.mirror)
	}
	// Once the resource is broken, every request is due; this one may still not be
	// granted.
	if c := p.r.load(&p.r.completed); c&broken != 0 || !due(c, s&^flags, modeOf(s)) {
		return 0
	}
	return len(p.r.buffer.Bytes())
}

// Resize changes how many bytes the resource has. It keeps the old bytes as far as they
// fit, and new ones are zero. Slices from before are no longer valid.
func (p *Place) Resize(size int) error {
	if err := p.mayWrite("resize"); err != nil {
		return err
	}
	if !validSize(size) {
		return p.error("resize", sizeError(size))
	}
	r := p.r
	if size == len(r.buffer.Bytes()) {
		return nil
	}
	if r.pages() != nil {
		p.shut()
	}
	wrote := p.wrote
	p.wrote = true
	if err := r.buffer.Resize(size); err != nil {
		p.wrote = wrote // the bytes are as before
		return p.error("resize", err)
	}
	return nil
}

// mostBytes keeps the memory for so many bytes, whole words, from overflowing.
const mostBytes = math.MaxInt - 7

func validSize(size int) bool { return size >= 0 && size <= mostBytes }

// poison is why the bytes are half written.
type poison struct {
	reason  error  // of the last failure
	version uint64 // the version that this failure left
}

// failed notes that a writer at the home has failed after it may have changed the bytes. The half-written bytes stay, as a
// version of their own, and the resource is poisoned. No view is open.
func (r *Resource) failed(reason error) {
	r.ledger.Lose(Write)
	r.ledger.Poison()
	r.poison = &poison{reason, r.ledger.Version()}
}

// poisoned returns why the bytes are poisoned, as far as this node knows. A commit
// makes another version, and poison from another node has no reason.
func (r *Resource) poisoned() error {
	p := r.poison
	if p == nil || r.ledger.Prior() != coherence.PriorPoisoned || p.version != r.ledger.Version() {
		return nil
	}
	return p.reason
}

// FaultPages gives resources fault pages, by [Options]: a view of a resource then
// faults if it is used after the release. Stale tells whose view it was. One value
// serves many resources. The zero value is ready, and must not be copied once used.
//
// A fault ends the program, unless the goroutine asks for a panic:
//
//	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
//	defer func() {
//		if r := recover(); r != nil {
//			stale, ok := pages.Stale(r)
//			if !ok {
//				panic(r)
//			}
//			err = stale
//		}
//	}()
type FaultPages = faultpage.Space

// StaleViewError tells which view was used too late, or written to although it is
// for reading. Handle and Resource are the names, Addr is the address of the access,
// and Offset counts its bytes from the beginning of the resource. Write is true if
// the view was for reading; otherwise the handle did not hold the resource.
type StaleViewError = faultpage.StaleViewError

// The errors of fault pages.
var (
	// ErrNoFaultPages: the system has none.
	ErrNoFaultPages = faultpage.ErrUnsupported
	// ErrFaultPagesClosed: the resource was closed.
	ErrFaultPagesClosed = faultpage.ErrClosed
)

// mapping is a place's view of resources with fault pages.
type mapping struct {
	name   string            // of the place, for a StaleViewError
	memory *faultpage.Memory // the memory of view
	view   *faultpage.View
	isOpen bool
	bytes  []byte // while it is open
	mode   Mode
}

// Call gives the place a name, for a [StaleViewError]. Call it before the first
// request.
func (p *Place) Call(name string) { p.mapping().name = name }

func (p *Place) mapping() *mapping {
	x := p.extra()
	if x.view == nil {
		x.view = new(mapping)
	}
	return x.view
}

// openPages makes the bytes of a resource with fault pages accessible to the place.
func (p *Place) openPages(m Mode) ([]byte, error) {
	v := p.mapping()
	if v.isOpen && (m == Read || v.mode == Write) {
		return v.bytes, nil
	}
	p.shut()
	if err := v.use(p.r.pages()); err != nil {
		return nil, p.error("map", err)
	}
	access := faultpage.Read
	if m == Write {
		access = faultpage.Write
	}
	b, err := v.view.Open(access)
	if err != nil {
		return nil, p.error("map", err)
	}
	v.isOpen, v.bytes, v.mode = true, b, m
	return b, nil
}

// use makes the mapping a view of memory.
func (v *mapping) use(memory *faultpage.Memory) error {
	if v.memory == memory {
		return nil
	}
	if v.view != nil {
		if err := v.view.Close(); err != nil {
			return err
		}
	}
	view, err := memory.View(v.name)
	if err != nil {
		return err
	}
	v.memory, v.view = memory, view
	return nil
}

// shut makes the bytes inaccessible again: a use of the view from now on faults.
func (p *Place) shut() {
	if p.x == nil || p.x.view == nil || !p.x.view.isOpen {
		return
	}
	v := p.x.view
	v.isOpen, v.bytes = false, nil
	if err := v.view.Shut(); err != nil {
		// The view still works, so a late use would stay unseen.
		p.r.Break(err)
	}
}
