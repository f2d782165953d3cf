package faultpage

import (
	"errors"
	"fmt"
	"unsafe"
)

// View is the view that one handle has of fault pages.
type View struct {
	pages    *Memory
	handle   string
	reserved []byte   // where it is mapped, whole pages; the first of them may be open
	left     [][]byte // where it was before it grew: shut for good
	opened   int      // bytes of reserved, whole pages, if open
	mode     Access   // if open
	open     bool
	closed   bool
}

// Open makes the bytes accessible for reading, or for reading and writing, until
// Shut.
func (a *View) Open(m Access) ([]byte, error) {
	p := a.pages
	p.space.mu.Lock()
	defer p.space.mu.Unlock()
	switch {
	case a.closed:
		return nil, a.wrong(ErrClosed)
	case a.open:
		return nil, a.wrong(ErrOpen)
	}
	opened := wholePages(p.size)
	if opened > len(a.reserved) {
		reserved, err := p.file.mapPages(len(p.owner), none)
		if err != nil {
			return nil, a.wrong(err)
		}
		a.left = append(a.left, a.reserved)
		a.reserved = reserved
	}
	if err := protectPages(a.reserved[:opened], m); err != nil {
		return nil, a.wrong(err)
	}
	a.open, a.mode, a.opened = true, m, opened
	p.open++
	return a.reserved[:p.size:p.size], nil
}

// Shut makes the bytes inaccessible: whoever still uses a view of them faults.
func (a *View) Shut() error {
	p := a.pages
	p.space.mu.Lock()
	defer p.space.mu.Unlock()
	switch {
	case a.closed:
		return a.wrong(ErrClosed)
	case !a.open:
		return a.wrong(ErrShut)
	}
	if err := protectPages(a.reserved[:a.opened], none); err != nil {
		return a.wrong(err)
	}
	a.open, a.opened = false, 0
	p.open--
	return nil
}

// Close ends the view, open or not. No view that was taken of it may be used any
// more: its addresses can become those of other memory. Closing again does
// nothing.
func (a *View) Close() error {
	a.pages.space.mu.Lock()
	defer a.pages.space.mu.Unlock()
	return a.wrong(a.close())
}

func (a *View) close() error {
	if a.closed {
		return nil
	}
	if a.open {
		a.pages.open--
	}
	a.closed, a.open = true, false
	delete(a.pages.views, a)
	err := unmapPages(a.reserved)
	for _, left := range a.left {
		err = errors.Join(err, unmapPages(left))
	}
	a.reserved, a.left = nil, nil
	return err
}

// wrong names the handle and the resource in an error, if there is one.
func (a *View) wrong(err error) error {
	if err != nil {
		return fmt.Errorf("%w (handle %s of resource %s)", err, a.handle, a.pages.resource)
	}
	return nil
}

// holds reports whether an address is one of mapped memory, and how far into it.
func holds(mapped []byte, addr uintptr) (offset int, _ bool) {
	within := addr - uintptr(unsafe.Pointer(unsafe.SliceData(mapped))) // huge if it is before
	return int(within), within < uintptr(len(mapped))
}
