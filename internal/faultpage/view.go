package faultpage

import (
	"errors"
	"fmt"
	"unsafe"
)

// Access says what an open view allows.
type Access int

const (
	none  Access = iota // shut: every access faults
	Read                // a write faults
	Write               // read and write
)

// View is what one handle sees of a Memory. [Memory.View] makes it.
type View struct {
	memory   *Memory
	handle   string
	reserved []byte   // the view's addresses, whole pages; the first of them may be open
	left     [][]byte // its addresses before it grew: shut for good
	opened   int      // open bytes of reserved, whole pages
	access   Access   // none while it is shut
	closed   bool
}

// Open makes the bytes accessible until Shut: for reading, or for reading and
// writing.
func (v *View) Open(a Access) ([]byte, error) {
	m := v.memory
	m.space.mu.Lock()
	defer m.space.mu.Unlock()
	switch {
	case v.closed:
		return nil, v.wrong(ErrClosed)
	case v.access != none:
		return nil, v.wrong(ErrOpen)
	}
	opened := wholePages(m.size)
	if opened > len(v.reserved) {
		reserved, err := m.file.mapPages(len(m.owner), none)
		if err != nil {
			return nil, v.wrong(err)
		}
		v.left = append(v.left, v.reserved)
		v.reserved = reserved
	}
	if err := protectPages(v.reserved[:opened], a); err != nil {
		return nil, v.wrong(err)
	}
	v.access, v.opened = a, opened
	m.open++
	return v.reserved[:m.size:m.size], nil
}

// Shut makes the bytes inaccessible: a use of them faults from now on.
func (v *View) Shut() error {
	m := v.memory
	m.space.mu.Lock()
	defer m.space.mu.Unlock()
	switch {
	case v.closed:
		return v.wrong(ErrClosed)
	case v.access == none:
		return v.wrong(ErrShut)
	}
	if err := protectPages(v.reserved[:v.opened], none); err != nil {
		return v.wrong(err)
	}
	v.access, v.opened = none, 0
	m.open--
	return nil
}

// Close ends the view, open or shut. Do not use its bytes afterwards: the system may
// give their addresses to other memory. A second Close does nothing.
func (v *View) Close() error {
	v.memory.space.mu.Lock()
	defer v.memory.space.mu.Unlock()
	return v.wrong(v.close())
}

// close is Close with the mutex held, without names in the error.
func (v *View) close() error {
	if v.closed {
		return nil
	}
	if v.access != none {
		v.memory.open--
	}
	v.closed, v.access = true, none
	delete(v.memory.views, v)
	err := unmapPages(v.reserved)
	for _, left := range v.left {
		err = errors.Join(err, unmapPages(left))
	}
	v.reserved, v.left = nil, nil
	return err
}

// find is the error of a fault at addr, if the address is the view's.
func (v *View) find(addr uintptr) (*StaleViewError, bool) {
	stale := &StaleViewError{Handle: v.handle, Resource: v.memory.resource, Addr: addr}
	if offset, ok := holds(v.reserved, addr); ok {
		stale.Offset, stale.Write = offset, offset < v.opened && v.access == Read
		return stale, true
	}
	for _, left := range v.left {
		if offset, ok := holds(left, addr); ok {
			stale.Offset = offset
			return stale, true
		}
	}
	return nil, false
}

// wrong adds the names of the handle and the resource to an error. It returns nil for
// nil.
func (v *View) wrong(err error) error {
	if err != nil {
		return fmt.Errorf("%w (handle %s of resource %s)", err, v.handle, v.memory.resource)
	}
	return nil
}

// holds reports whether addr lies in mapped memory, and its offset there.
func holds(mapped []byte, addr uintptr) (offset int, _ bool) {
	within := addr - uintptr(unsafe.Pointer(unsafe.SliceData(mapped))) // huge if addr is lower
	return int(within), within < uintptr(len(mapped))
}
