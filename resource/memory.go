package resource

import (
	"fmt"
	"unsafe"
)

// Allocator provides memory for the bytes of large resources. A [Site]'s Transport can
// send them from there at less cost. Any goroutine may call its methods.
type Allocator interface {
	// Make returns size bytes of zeroed memory, aligned for any type.
	Make(size int) []byte
	// Free takes back what Make returned. A message may still be reading the bytes, so
	// they must not change yet.
	Free(b []byte)
}

// housed is the smallest size in bytes that uses an Allocator.
const housed = 64 << 10

// allocator is the Allocator of the resource's bytes, or nil for ordinary memory.
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

// swap exchanges the message's memory with the resource's, so that the bytes need no
// copy. The message must allow it and bring all bytes of the resource.
func (r *Resource) swap(m *Message) bool {
	if !m.swap || !m.Whole || len(m.Bytes) != len(r.bytes) || r.pages != nil || r.published() != nil || !aligned(m.Bytes) {
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

// house moves the bytes of a resource that becomes the site's into the site's memory.
// keep says that their contents matter.
func (s *Site) house(r *Resource, keep bool) {
	if s.o.Memory == nil || r.pages != nil || r.published() != nil || len(r.bytes) < housed {
		return
	}
	old := r.bytes
	r.bytes = s.o.Memory.Make(len(old))
	if keep {
		copy(r.bytes, old)
	}
}

// intact reports whether the bytes copied from a message are the bytes that were sent.
func (m *Message) intact() bool { return m.valid == nil || m.valid() }

// spoilt is the error of a message whose bytes may have changed in memory: its sender
// has ended this life already.
func spoilt(m *Message) error {
	return fmt.Errorf("%w: %v: the node that sent it has given up node %d meanwhile", ErrOtherLife, m, m.Node)
}
