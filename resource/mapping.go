package resource

import "github.com/orwl/go-orwl/internal/faultpage"

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
	// ErrFaultPagesSize: the resource is larger than fault pages can be.
	ErrFaultPagesSize = faultpage.ErrSize
	// ErrFaultPagesClosed: the resource was closed.
	ErrFaultPagesClosed = faultpage.ErrClosed
)

// mapping is a place's view of resources with fault pages.
type mapping struct {
	name   string            // of the place, for a StaleViewError
	memory *faultpage.Memory // that view is of
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
