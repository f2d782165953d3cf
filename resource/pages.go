package resource

import (
	"errors"
	"fmt"
	"math"
	"os"
)

// Mistakes in the use of guarded memory, and systems that have none.
var (
	// ErrNoGuardPages is a system without guard pages.
	ErrNoGuardPages = errors.New("resource: guard pages need Linux: leave them off on this system")
	// ErrPagesSize is a size that guarded memory cannot have.
	ErrPagesSize = fmt.Errorf("resource: the size of guarded memory is a multiple of 8 and at most %d", int64(mostPages))
	// ErrPagesClosed is guarded memory, or an alias of it, that is closed.
	ErrPagesClosed = errors.New("resource: guarded memory is closed")
	// ErrAliasOpen is an alias that would have to be shut.
	ErrAliasOpen = errors.New("resource: a view of guarded memory is open: release it first")
	// ErrAliasShut is the shutting of an alias that is shut.
	ErrAliasShut = errors.New("resource: the view of guarded memory is not open")
)

// mostPages bounds sizes below what would overflow; no system maps more.
const mostPages = min(1<<46, math.MaxInt/2+1)

// Pages is memory that its owner sees always, and each handle only while it holds
// the resource. The same pages of a file without a name are mapped once for the
// owner and once for each alias:
//
//	owner    ████████   read and write
//	alias a  ████████   open: read, or read and write
//	alias b  ░░░░░░░░   shut: whoever touches it faults
//
// An alias is at another address than every other, hence a fault tells whose view
// it was: see Guards.Stale. Whether an alias is open costs two system calls for an
// access, a microsecond or so, whatever the size.
//
// All methods are safe for concurrent use. The bytes are not: who reads and who
// writes them is for the resource to order.
type Pages struct {
	guards   *Guards
	resource string
	file     pageFile
	size     int
	owner    []byte // whole pages, as many as were reserved, of which size bytes are there
	aliases  map[*Alias]struct{}
	open     int // aliases
	closed   bool
}

// Bytes is the memory as its owner sees it, zeroed at first. It is valid until
// Resize or Close.
func (p *Pages) Bytes() []byte {
	p.guards.mu.Lock()
	defer p.guards.mu.Unlock()
	return p.owner[:p.size:p.size]
}

// Resize gives the memory another size. What is kept of it keeps its contents, the
// rest is zero. All aliases must be shut. If it fails, nothing has changed.
func (p *Pages) Resize(size int) error {
	p.guards.mu.Lock()
	defer p.guards.mu.Unlock()
	switch {
	case p.closed:
		return p.wrong(ErrPagesClosed)
	case p.open > 0:
		return p.wrong(ErrAliasOpen)
	case !validPages(size):
		return fmt.Errorf("%w: %s is to have %d bytes", ErrPagesSize, p.resource, size)
	}
	owner := p.owner
	if wholePages(size) > len(owner) {
		// Twice as much at least, so that what aliases leave behind when they grow
		// is never more than what they have.
		reserve := min(max(wholePages(size), 2*len(owner)), mostPages)
		grown, err := p.file.mapPages(reserve, ownerPages)
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

// Alias makes a view for the handle of that name. It is shut.
func (p *Pages) Alias(handle string) (*Alias, error) {
	p.guards.mu.Lock()
	defer p.guards.mu.Unlock()
	if p.closed {
		return nil, p.wrong(ErrPagesClosed)
	}
	reserved, err := p.file.mapPages(len(p.owner), shutPages)
	if err != nil {
		return nil, p.wrong(err)
	}
	a := &Alias{pages: p, handle: handle, reserved: reserved}
	p.aliases[a] = struct{}{}
	return a, nil
}

// Close unmaps everything, the aliases too, open or not. Closing again does
// nothing.
func (p *Pages) Close() error {
	p.guards.mu.Lock()
	defer p.guards.mu.Unlock()
	if p.closed {
		return nil
	}
	p.closed = true
	delete(p.guards.memories, p)
	var errs []error
	for a := range p.aliases {
		errs = append(errs, a.close())
	}
	errs = append(errs, unmapPages(p.owner), p.file.close())
	p.owner, p.size = nil, 0
	return p.wrong(errors.Join(errs...))
}

// wrong names the resource in an error, if there is one.
func (p *Pages) wrong(err error) error {
	if err != nil {
		return fmt.Errorf("%w (resource %s)", err, p.resource)
	}
	return nil
}

func validPages(size int) bool { return size >= 0 && size%8 == 0 && size <= mostPages }

// wholePages rounds up to pages: the least that can be mapped, hence not zero.
func wholePages(size int) int {
	page := os.Getpagesize()
	return max(size+page-1, page) / page * page
}

// access is what may be done with mapped pages.
type access int

const (
	shutPages access = iota
	readPages
	writePages
	ownerPages = writePages
)
