package typed

import (
	"fmt"
	"reflect"
	"unsafe"

	"github.com/orwl/go-orwl/internal/invariant"
	"github.com/orwl/go-orwl/internal/queue"
)

// View is elements that are only read. Package handle has its methods.
type View[T any] struct{ elements []T } // its capacity is its length

// ViewOn shows elements.
func ViewOn[T any](elements []T) View[T] { return View[T]{elements} }

// Elements are the elements, for the methods of package handle.
func (v View[T]) Elements() []T { return v.elements }

// LengthError reports a resource whose bytes are no whole number of elements.
type LengthError struct {
	Resource string
	Type     reflect.Type
	Bytes    int // of the resource
}

func (e *LengthError) Error() string {
	size := int(e.Type.Size())
	return fmt.Sprintf("handle: the %d bytes of %q are no whole number of %v, which has %d bytes: resize the resource to a multiple of %d, or view a type that fits", e.Bytes, e.Resource, e.Type, size, size)
}

// Slice returns b as elements of a type that has passed Check, without a copy. The bytes are a whole number of elements:
// see Fits. The bytes of a resource are aligned for every such type.
func Slice[T any](b []byte) []T {
	if len(b) == 0 {
		return nil // an empty b may have any address
	}
	var one T
	at := unsafe.Pointer(unsafe.SliceData(b))
	if invariant.Enabled {
		invariant.Check(uintptr(at)%unsafe.Alignof(one) == 0, "bytes of a resource at %p, which is not aligned for a %v", at, reflect.TypeFor[T]())
	}
	return unsafe.Slice((*T)(at), uint(len(b))/uint(unsafe.Sizeof(one)))
}

// Bytes returns the memory of elements of a type that has passed Check.
func Bytes[T any](of []T) []byte {
	var one T
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(of))), uintptr(len(of))*unsafe.Sizeof(one))
}

// ViewOf is Slice for a holder that reads.
func ViewOf[T any](b []byte) View[T] { return View[T]{Slice[T](b)} }

// Read returns the bytes of a place that holds as elements of type T.
func Read[T any](p *queue.Place, m *Memo) (View[T], error) {
	if err := checkOnce[T](m, p); err != nil {
		return View[T]{}, err
	}
	b, err := p.Bytes()
	if err != nil {
		return View[T]{}, err
	}
	if err := checkLength[T](p, len(b)); err != nil {
		return View[T]{}, err
	}
	return ViewOf[T](b), nil
}

// Write is Read for a place that holds for writing.
func Write[T any](p *queue.Place, m *Memo) ([]T, error) {
	if err := mayWrite[T](p, m); err != nil {
		return nil, err
	}
	b, err := p.Writable()
	if err != nil {
		return nil, err
	}
	return Slice[T](b), nil
}

// mayWrite checks the type and the length: after Writable a release commits a new version.
func mayWrite[T any](p *queue.Place, m *Memo) error {
	if err := checkOnce[T](m, p); err != nil {
		return err
	}
	if !p.Held() {
		return nil // Writable says so
	}
	return checkLength[T](p, p.Size())
}

// Fits reports whether so many bytes are a whole number of elements of type T.
func Fits[T any](bytes int) bool {
	var one T
	return uint(bytes)%uint(unsafe.Sizeof(one)) == 0
}

// checkLength returns a *LengthError if so many bytes of a place's resource are no whole number of elements.
func checkLength[T any](p *queue.Place, bytes int) error {
	if Fits[T](bytes) {
		return nil
	}
	return &LengthError{p.Resource().Name(), reflect.TypeFor[T](), bytes}
}
