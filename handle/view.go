package handle

import (
	"fmt"
	"iter"
	"math"
	"reflect"
	"unsafe"

	"github.com/orwl/go-orwl/internal/invariant"
	"github.com/orwl/go-orwl/resource"
)

// View shows a resource's bytes as elements of type T, for reading. It copies no
// element. It is valid while the handle holds the resource. A copy of a View shows the
// same elements. The zero value has no elements.
//
// The bytes have the layout of T in this machine's memory. Nothing converts them for
// another machine: all nodes of a run have the same byte order.
type View[T any] struct{ elements []T } // its capacity is its length

// At returns element i. As with a slice, it panics if there is none.
func (v View[T]) At(i int) T { return v.elements[i] }

// Len is the number of elements.
func (v View[T]) Len() int { return len(v.elements) }

// All yields the elements in order, with their numbers.
func (v View[T]) All() iter.Seq2[int, T] {
	return func(yield func(int, T) bool) {
		for i, x := range v.elements {
			if !yield(i, x) {
				return
			}
		}
	}
}

// Copy copies as many elements to dst as fit and returns their number. The copy stays
// valid after the release.
func (v View[T]) Copy(dst []T) int { return copy(dst, v.elements) }

// Sub returns a view of the elements i to j-1. As with a slice, it panics unless
// 0 <= i <= j <= Len.
func (v View[T]) Sub(i, j int) View[T] { return View[T]{v.elements[i:j:j]} }

// LengthError reports a resource whose bytes are no whole number of elements.
type LengthError struct {
	Resource string // its name, or empty
	Type     reflect.Type
	Bytes    int // of the resource
}

func (e *LengthError) Error() string {
	size := int(e.Type.Size())
	bytes := fmt.Sprintf("%d bytes", e.Bytes)
	if e.Resource != "" {
		bytes = fmt.Sprintf("the %s of %q", bytes, e.Resource)
	}
	return fmt.Sprintf("handle: %s are no whole number of %v, which has %d bytes: resize the resource to a multiple of %d, or view a type that fits", bytes, e.Type, size, size)
}

// elements returns b as elements of a type that has passed Check, without a copy. Their
// length has passed checkLength. The bytes of a resource are aligned for every such type.
func elements[T any](b []byte) []T {
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

// ViewOf shows bytes of a resource that their holder may read as elements of type T, without a
// copy. T has passed [Check]. The bytes are a whole number of elements: see [Fits]. [Read] is
// this for a handle, and checks both.
func ViewOf[T any](b []byte) View[T] { return View[T]{elements[T](b)} }

// SliceOf is ViewOf for a holder that may write.
func SliceOf[T any](b []byte) []T { return elements[T](b) }

// part is the bytes of elements low to high-1. It is one that no resource has if it cannot be computed.
func part[T any](low, high int) resource.Range {
	var one T
	size := int(unsafe.Sizeof(one))
	if low < 0 || high < low || high > math.MaxInt/size {
		return resource.Range{Off: -1}
	}
	return resource.Range{Off: low * size, Len: (high - low) * size}
}

// Fits reports whether so many bytes are a whole number of elements of type T.
func Fits[T any](bytes int) bool {
	var one T
	return uint(bytes)%uint(unsafe.Sizeof(one)) == 0
}

// checkLength returns a *LengthError if so many bytes are no whole number of elements.
func checkLength[T any](bytes int) error {
	if Fits[T](bytes) {
		return nil
	}
	return lengthError(reflect.TypeFor[T](), bytes)
}

func lengthError(t reflect.Type, bytes int) error { return &LengthError{Type: t, Bytes: bytes} }
