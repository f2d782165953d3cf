package faultpage

import (
	"fmt"
	"runtime"
	"sync"
)

// Space makes fault pages, and tells afterwards whose view of it was used
// without the resource. The zero value is ready; it must not be copied once used.
//
// A goroutine whose faults are to be told has to say so beforehand, or a fault
// ends the program:
//
//	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
//	defer func() {
//		if r := recover(); r != nil {
//			stale, ok := space.Stale(r)
//			if !ok {
//				panic(r)
//			}
//			err = stale
//		}
//	}()
//
// A stale view is found if it is used while its handle does not hold the resource
// and has not been closed: when the handle holds it again, the bytes are at the
// same place.
type Space struct {
	// mu is held for everything that is done with the memory it makes. All that
	// takes long below it are system calls that change mappings, for which the
	// kernel has but one lock for the process anyway.
	mu       sync.Mutex
	memories map[*Memory]struct{}
}

// NewMemory makes fault pages of size bytes, a multiple of 8, for the resource
// of that name. Where the system has no fault pages it is ErrUnsupported.
func (g *Space) NewMemory(resource string, size int) (*Memory, error) {
	if !validSize(size) {
		return nil, fmt.Errorf("%w: %s is to have %d bytes", ErrSize, resource, size)
	}
	p := &Memory{space: g, resource: resource, size: size, views: make(map[*View]struct{})}
	file, err := newPageFile(size)
	if err != nil {
		return nil, p.wrong(err)
	}
	if p.owner, err = file.mapPages(wholePages(size), Write); err != nil {
		file.close()
		return nil, p.wrong(err)
	}
	p.file = file
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.memories == nil {
		g.memories = make(map[*Memory]struct{})
	}
	g.memories[p] = struct{}{}
	return p, nil
}

// StaleViewError is a view that was used without right.
type StaleViewError struct {
	Handle, Resource string
	Addr             uintptr // what was touched
	Offset           int     // its place among the bytes of the resource
	// Write says that the view is one for reading, which was written to. Otherwise
	// the handle did not hold the resource.
	Write bool
}

func (e *StaleViewError) Error() string {
	what := "was used after its release: take a view anew after each acquire"
	if e.Write {
		what = "is for reading and was written to: request the handle for writing"
	}
	return fmt.Sprintf("resource: the view that handle %s has of resource %s %s (byte %d, address %#x)", e.Handle, e.Resource, what, e.Offset, e.Addr)
}

// Stale says whose view it was, given what recover returned, if that is a fault in
// an view.
func (g *Space) Stale(recovered any) (*StaleViewError, bool) {
	fault, ok := recovered.(interface {
		runtime.Error
		Addr() uintptr
	})
	if !ok {
		return nil, false
	}
	return g.Find(fault.Addr())
}

// Find is Stale for an address at which there was a fault.
func (g *Space) Find(addr uintptr) (*StaleViewError, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for p := range g.memories {
		for a := range p.views {
			if offset, ok := holds(a.reserved, addr); ok {
				readable := a.open && offset < a.opened
				return &StaleViewError{a.handle, p.resource, addr, offset, readable && a.mode == Read}, true
			}
			for _, left := range a.left {
				if offset, ok := holds(left, addr); ok {
					return &StaleViewError{a.handle, p.resource, addr, offset, false}, true
				}
			}
		}
	}
	return nil, false
}
