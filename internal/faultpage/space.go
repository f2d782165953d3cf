package faultpage

import (
	"fmt"
	"runtime"
	"sync"
)

// Space makes memories and finds stale views. The zero value is ready. Do not copy
// a Space after its first use.
//
// A fault ends the program, unless the goroutine asks for a panic:
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
// A use of a stale view faults while the view is shut, until the handle closes it. It
// does not fault when the handle holds the resource again: the bytes are then at the
// same address.
type Space struct {
	// mu protects the Space, its memories and their views. The long steps under it are
	// system calls on mappings. The kernel serialises those in a process, so one mutex
	// costs nothing more.
	mu       sync.Mutex
	memories map[*Memory]struct{}
}

// NewMemory makes memory of size bytes, all zero. The name of the
// resource is for errors.
func (s *Space) NewMemory(resource string, size int) (*Memory, error) {
	if !validSize(size) {
		return nil, sizeError(resource, size)
	}
	m := &Memory{space: s, resource: resource, size: size, views: make(map[*View]struct{})}
	file, err := newPageFile(size)
	if err != nil {
		return nil, m.wrong(err)
	}
	if m.owner, err = file.mapPages(wholePages(size), Write); err != nil {
		file.close()
		return nil, m.wrong(err)
	}
	m.file = file
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.memories == nil {
		s.memories = make(map[*Memory]struct{})
	}
	s.memories[m] = struct{}{}
	return m, nil
}

// StaleViewError tells which view was used without the right to it.
type StaleViewError struct {
	Handle, Resource string
	Addr             uintptr // of the access that faulted
	Offset           int     // of Addr, from the beginning of the resource's bytes
	// Write is true if the view was open for reading and a write faulted. Otherwise the
	// handle did not hold the resource.
	Write bool
}

// Error names package resource: users know the error as resource.StaleViewError.
func (e *StaleViewError) Error() string {
	what := "was used after its release: take a view anew after each acquire"
	if e.Write {
		what = "is for reading and was written to: request the handle for writing"
	}
	return fmt.Sprintf("resource: the view that handle %s has of resource %s %s (byte %d, address %#x)", e.Handle, e.Resource, what, e.Offset, e.Addr)
}

// Stale takes what recover returned. It tells whose view was used, if the panic is a
// fault in a view of this Space.
func (s *Space) Stale(recovered any) (*StaleViewError, bool) {
	fault, ok := recovered.(interface {
		runtime.Error
		Addr() uintptr
	})
	if !ok {
		return nil, false
	}
	return s.Find(fault.Addr())
}

// Find is Stale for the address of a fault.
func (s *Space) Find(addr uintptr) (*StaleViewError, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for m := range s.memories {
		for v := range m.views {
			if stale, ok := v.find(addr); ok {
				return stale, true
			}
		}
	}
	return nil, false
}
