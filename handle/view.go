package handle

import (
	"fmt"
	"iter"
	"reflect"
	"unsafe"

	"github.com/orwl/go-orwl/internal/invariant"
)

// View is a resource's bytes as elements of type T, for reading. It copies
// nothing: it is valid while the handle holds the resource, and an element is
// read when it is asked for. Copying a View gives another one of the same
// elements. The zero value has none.
//
// The bytes are as Go lays T out in this machine's memory, and are not converted
// for another: every node of a run has the same byte order.
type View[T any] struct{ elements []T } // without spare capacity

// At is the element i. As with a slice, it panics if there is none.
func (v View[T]) At(i int) T { return v.elements[i] }

// Len is the number of elements.
func (v View[T]) Len() int { return len(v.elements) }

// All are the elements in order, with their numbers.
func (v View[T]) All() iter.Seq2[int, T] {
	return func(yield func(int, T) bool) {
		for i, x := range v.elements {
			if !yield(i, x) {
				return
			}
		}
	}
}

// Copy copies elements to dst, as many as there are and as fit, and returns their
// number. The copy stays when the handle releases the resource.
func (v View[T]) Copy(dst []T) int { return copy(dst, v.elements) }

// Sub is a view of the elements from i on and before j. As with a slice, it panics
// if 0 <= i <= j <= Len does not hold.
func (v View[T]) Sub(i, j int) View[T] { return View[T]{v.elements[i:j:j]} }

// LengthError is a resource whose bytes are no whole number of elements.
type LengthError struct {
	Type  reflect.Type
	Bytes int // of the resource
}

func (e *LengthError) Error() string {
	size := int(e.Type.Size())
	return fmt.Sprintf("handle: %d bytes are no whole number of %v, which has %d: resize the resource to a multiple of %d, or view a type that fits", e.Bytes, e.Type, size, size)
}

// castWrite is bytes as elements of a type that has passed Check, without copying.
// Bytes of resources are aligned for every such type.
func castWrite[T any](b []byte) ([]T, error) {
	if err := checkLength[T](len(b)); err != nil {
		return nil, err
	}
	if len(b) == 0 {
		return nil, nil // without bytes behind it, an address need not be one of the resource
	}
	var one T
	at := unsafe.Pointer(unsafe.SliceData(b))
	invariant.Check(uintptr(at)%unsafe.Alignof(one) == 0, "bytes of a resource at %p, no place for a %v", at, reflect.TypeFor[T]())
	return unsafe.Slice((*T)(at), len(b)/int(unsafe.Sizeof(one))), nil
}

// checkLength reports, as a *LengthError, that a number of bytes is no whole number
// of elements.
func checkLength[T any](bytes int) error {
	var one T
	if bytes%int(unsafe.Sizeof(one)) != 0 {
		return &LengthError{reflect.TypeFor[T](), bytes}
	}
	return nil
}

// castRead is castWrite for who may only read.
func castRead[T any](b []byte) (View[T], error) {
	elements, err := castWrite[T](b)
	return View[T]{elements}, err
}
