package faultpage

import (
	"errors"
	"fmt"
	"math"
	"os"
)

// Mistakes in the use of fault pages, and systems that have none.
var (
	// ErrUnsupported is a system without fault pages.
	ErrUnsupported = errors.New("faultpage: fault pages need Linux: leave them off on this system")
	// ErrSize is a size that fault pages cannot have.
	ErrSize = fmt.Errorf("faultpage: the size of fault pages is a multiple of 8 and at most %d", int64(mostBytes))
	// ErrClosed is fault pages, or an view of it, that is closed.
	ErrClosed = errors.New("faultpage: fault pages is closed")
	// ErrOpen is an view that would have to be shut.
	ErrOpen = errors.New("faultpage: a view of fault pages is open: release it first")
	// ErrShut is the shutting of an view that is shut.
	ErrShut = errors.New("resource: the view of fault pages is not open")
)

// mostBytes bounds sizes below what would overflow; no system maps more.
const mostBytes = min(1<<46, math.MaxInt/2+1)

// Memory is memory that its owner sees always, and each handle only while it holds
// the resource. The same pages of a file without a name are mapped once for the
// owner and once for each view:
//
//	owner    ████████   read and write
//	view a  ████████   open: read, or read and write
//	view b  ░░░░░░░░   shut: whoever touches it faults
//
// An view is at another address than every other, hence a fault tells whose view
// it was: see Space.Stale. Whether an view is open costs two system calls for an
// access, a microsecond or so, whatever the size.
//
// All methods are safe for concurrent use. The bytes are not: who reads and who
// writes them is for the resource to order.
type Memory struct {
	space    *Space
	resource string
	file     pageFile
	size     int
	owner    []byte // whole pages, as many as were reserved, of which size bytes are there
	views    map[*View]struct{}
	open     int // views
	closed   bool
}

// Bytes is the memory as its owner sees it, zeroed at first. It is valid until
// Resize or Close.
func (p *Memory) Bytes() []byte {
	p.space.mu.Lock()
	defer p.space.mu.Unlock()
	return p.owner[:p.size:p.size]
}

// Resize gives the memory another size. What is kept of it keeps its contents, the
// rest is zero. All views must be shut. If it fails, nothing has changed.
func (p *Memory) Resize(size int) error {
	p.space.mu.Lock()
	defer p.space.mu.Unlock()
	switch {
	case p.closed:
		return p.wrong(ErrClosed)
	case p.open > 0:
		return p.wrong(ErrOpen)
	case !validSize(size):
		return fmt.Errorf("%w: %s is to have %d bytes", ErrSize, p.resource, size)
	}
	owner := p.owner
	if wholePages(size) > len(owner) {
		// Twice as much at least, so that what views leave behind when they grow
		// is never more than what they have.
		reserve := min(max(wholePages(size), 2*len(owner)), mostBytes)
		grown, err := p.file.mapPages(reserve, Write)
		if err != nil {
			return p.wrong(err)
		}
		owner = grown
	}
	moved := len(owner) != len(p.owner)
	if err := p.file.resize(size); err != nil {
		if moved {
			err = errors.Join(err, unmapPages(owner))
		}
		return p.wrong(err)
	}
	old := p.owner
	p.size, p.owner = size, owner
	if moved {
		if err := unmapPages(old); err != nil {
			panic(err) // it was mapped
		}
	}
	return nil
}

// View makes a view for the handle of that name. It is shut.
func (p *Memory) View(handle string) (*View, error) {
	p.space.mu.Lock()
	defer p.space.mu.Unlock()
	if p.closed {
		return nil, p.wrong(ErrClosed)
	}
	reserved, err := p.file.mapPages(len(p.owner), none)
	if err != nil {
		return nil, p.wrong(err)
	}
	a := &View{pages: p, handle: handle, reserved: reserved}
	p.views[a] = struct{}{}
	return a, nil
}

// Close unmaps everything, the views too, open or not. Closing again does
// nothing.
func (p *Memory) Close() error {
	p.space.mu.Lock()
	defer p.space.mu.Unlock()
	if p.closed {
		return nil
	}
	p.closed = true
	delete(p.space.memories, p)
	var errs []error
	for a := range p.views {
		errs = append(errs, a.close())
	}
	errs = append(errs, unmapPages(p.owner), p.file.close())
	p.owner, p.size = nil, 0
	return p.wrong(errors.Join(errs...))
}

// wrong names the resource in an error, if there is one.
func (p *Memory) wrong(err error) error {
	if err != nil {
		return fmt.Errorf("%w (resource %s)", err, p.resource)
	}
	return nil
}

func validSize(size int) bool { return size >= 0 && size%8 == 0 && size <= mostBytes }

// wholePages rounds up to pages: the least that can be mapped, hence not zero.
func wholePages(size int) int {
	page := os.Getpagesize()
	return max(size+page-1, page) / page * page
}

// Access is what may be done with mapped pages.
type Access int

const (
	none Access = iota
	Read
	Write
)
