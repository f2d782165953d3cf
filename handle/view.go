package handle

import (
	"iter"

	"github.com/orwl/go-orwl/internal/typed"
)

// View shows a resource's bytes as elements of type T, for reading. It copies no
// element. It is valid while the handle holds the resource. A copy of a View shows the
// same elements. The zero value has no elements.
//
// The bytes have the layout of T in this machine's memory. Nothing converts them for
// another machine: all nodes of a run have the same byte order.
type View[T any] typed.View[T]

// all are the elements. Their capacity is their number.
func (v View[T]) all() []T { return typed.View[T](v).Elements() }

// At returns element i. As with a slice, it panics if there is none.
func (v View[T]) At(i int) T { return v.all()[i] }

// Len is the number of elements.
func (v View[T]) Len() int { return len(v.all()) }

// All yields the elements in order, with their numbers.
func (v View[T]) All() iter.Seq2[int, T] {
	return func(yield func(int, T) bool) {
		for i, x := range v.all() {
			if !yield(i, x) {
				return
			}
		}
	}
}

// Copy copies as many elements to dst as fit and returns their number. The copy stays
// valid after the release.
func (v View[T]) Copy(dst []T) int { return copy(dst, v.all()) }

// Sub returns a view of the elements i to j-1. As with a slice, it panics unless
// 0 <= i <= j <= Len.
func (v View[T]) Sub(i, j int) View[T] { return View[T](typed.ViewOn(v.all()[i:j:j])) }
