package resource

import (
	"fmt"
	"unsafe"
)

// Allocator is where a [Site] puts the bytes of large resources, so that its
// Transport can send them from there at less cost. Its methods may be called by any
// goroutine.
type Allocator interface {
	// Make is zeroed memory of size bytes in which any type may lie.
	Make(size int) []byte
	// Free takes back what Make gave. A message that brings bytes from there may be
	// under way still, and is not to change.
	Free(b []byte)
}

// housed is the size of bytes from which on they are an Allocator's.
const housed = 64 << 10

// allocator is that of the resource's bytes, nil for ordinary memory.
func (r *Resource) allocator() Allocator {
	switch {
	case r.pages != nil:
		return nil
	case r.home != nil:
		return r.home.site.o.Memory
	case r.mirrored != nil:
		return r.mirrored.site.o.Memory
	}
	return nil
}

// newBytes is zeroed memory for the resource.
func (r *Resource) newBytes(size int) []byte {
	if a := r.allocator(); a != nil && size >= housed {
		return a.Make(size)
	}
	return newBytes(size)
}

// spare gives memory back that newBytes gave.
func (r *Resource) spare(b []byte) {
	if a := r.allocator(); a != nil && len(b) >= housed {
		a.Free(b)
	}
}

// swap makes the memory that a message's bytes are in the resource's own, if they are
// all of its bytes and that is allowed, and gives the message what the resource had
// before. It is for whoever would otherwise copy them.
func (r *Resource) swap(m *Message) bool {
	if !m.swap || !m.Whole || len(m.Bytes) != len(r.bytes) || r.pages != nil || !aligned(m.Bytes) {
		return false
	}
	r.bytes, m.Bytes = m.Bytes, r.bytes
	if r.lent { // see own
		r.lent, m.Bytes = false, nil
	}
	return true
}

// aligned reports whether any type may lie in b.
func aligned(b []byte) bool { return uintptr(unsafe.Pointer(unsafe.SliceData(b)))%8 == 0 }

// house moves the bytes of a resource that becomes the site's to where the site has
// its bytes, with what is in them if that counts for something.
func (s *Site) house(r *Resource, keep bool) {
	if s.o.Memory == nil || r.pages != nil || len(r.bytes) < housed {
		return
	}
	old := r.bytes
	r.bytes = s.o.Memory.Make(len(old))
	if keep {
		copy(r.bytes, old)
	}
}

// intact reports whether what was copied from a message's bytes is what was sent.
func (m *Message) intact() bool { return m.valid == nil || m.valid() }

// spoilt is the error of a message of which nobody knows what it was: its sender has
// ended this life already.
func spoilt(m *Message) error {
	return fmt.Errorf("%w: %v: the node that sent it has given up node %d meanwhile", ErrOtherLife, m, m.Node)
}
