package faultpage

import (
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"sync"
	"unsafe"
)

// The errors of this package. They come wrapped, with the names of the resource and
// of the handle.
var (
	// ErrUnsupported: this system has no fault pages.
	ErrUnsupported = errors.New("faultpage: fault pages need Linux: leave them off on this system")
	// ErrSize: no Memory can have this size.
	ErrSize = fmt.Errorf("faultpage: the size must be 0 to %d", int64(mostBytes))
	// ErrClosed: the Memory or the View is closed.
	ErrClosed = errors.New("faultpage: closed already: use it before Close")
	// ErrOpen: a view is open and must be shut first.
	ErrOpen = errors.New("faultpage: a view is open: release it first")
	// ErrShut: the view to shut is not open.
	ErrShut = errors.New("faultpage: the view is not open: open it first")
)

// mostBytes keeps the arithmetic on sizes from overflowing. No system maps more.
const mostBytes = min(1<<46, math.MaxInt/2+1)

// Memory is the bytes of one resource. Its owner, the resource, always sees them. A
// handle sees them only while it holds the resource. One unnamed file holds the
// bytes; it is mapped once for the owner and once for each view:
//
//	owner    ████████   read and write
//	view a   ████████   open: read, or read and write
//	view b   ░░░░░░░░   shut: an access faults
//
// Each view has its own addresses, so the address of a fault names the view: see
// [Space.Stale]. To open and shut a view takes two system calls, about a microsecond,
// whatever the size.
type Memory struct {
	space    *Space
	resource string
	file     pageFile
	size     int
	owner    []byte // all reserved pages; the first size bytes are in use
	views    map[*View]struct{}
	open     int // views
	closed   bool
}

// Bytes is the memory as its owner sees it, zero at first. The slice is valid until
// Resize or Close.
func (m *Memory) Bytes() []byte {
	m.space.mu.Lock()
	defer m.space.mu.Unlock()
	return m.owner[:m.size:m.size]
}

// Resize changes the size. The bytes that remain keep their contents; new bytes are
// zero. All views must be shut. If Resize fails, nothing has changed.
func (m *Memory) Resize(size int) error {
	m.space.mu.Lock()
	defer m.space.mu.Unlock()
	switch {
	case m.closed:
		return m.wrong(ErrClosed)
	case m.open > 0:
		return m.wrong(ErrOpen)
	case !validSize(size):
		return sizeError(m.resource, size)
	}
	owner := m.owner
	if wholePages(size) > len(owner) {
		// A view that grows leaves its old addresses behind. Doubling keeps these from
		// adding up to more than the new ones.
		reserve := min(max(wholePages(size), 2*len(owner)), mostBytes)
		grown, err := m.file.mapPages(reserve, Write)
		if err != nil {
			return m.wrong(err)
		}
		owner = grown
	}
	moved := len(owner) != len(m.owner)
	if err := m.file.resize(size); err != nil {
		if moved {
			err = errors.Join(err, unmapPages(owner))
		}
		return m.wrong(err)
	}
	old := m.owner
	m.size, m.owner = size, owner
	if moved {
		if err := unmapPages(old); err != nil {
			panic(err) // it was mapped
		}
	}
	return nil
}

// View makes a view for a handle. It is shut at first. The name of the handle is for
// errors.
func (m *Memory) View(handle string) (*View, error) {
	m.space.mu.Lock()
	defer m.space.mu.Unlock()
	if m.closed {
		return nil, m.wrong(ErrClosed)
	}
	reserved, err := m.file.mapPages(len(m.owner), none)
	if err != nil {
		return nil, m.wrong(err)
	}
	v := &View{memory: m, handle: handle, reserved: reserved}
	m.views[v] = struct{}{}
	return v, nil
}

// Close unmaps the memory and its views, open or shut. A second Close does nothing.
func (m *Memory) Close() error {
	m.space.mu.Lock()
	defer m.space.mu.Unlock()
	if m.closed {
		return nil
	}
	m.closed = true
	delete(m.space.memories, m)
	var errs []error
	for v := range m.views {
		errs = append(errs, v.close())
	}
	errs = append(errs, unmapPages(m.owner), m.file.close())
	m.owner, m.size = nil, 0
	return m.wrong(errors.Join(errs...))
}

// wrong adds the name of the resource to an error. It returns nil for nil.
func (m *Memory) wrong(err error) error {
	if err != nil {
		return fmt.Errorf("%w (resource %s)", err, m.resource)
	}
	return nil
}

func sizeError(resource string, size int) error {
	return fmt.Errorf("%w: resource %s cannot have %d bytes", ErrSize, resource, size)
}

func validSize(size int) bool { return size >= 0 && size <= mostBytes }

// wholePages rounds up to whole pages, and to one page at least: the system cannot
// map less.
func wholePages(size int) int {
	page := os.Getpagesize()
	return max(size+page-1, page) / page * page
}

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
