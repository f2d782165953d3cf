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

// TypeError reports a type whose elements a resource cannot hold.
type TypeError struct {
	Type reflect.Type
	Path string // leads from the type to the flaw: cell.next, row[].name
	Why  string
}

func (e *TypeError) Error() string {
	return fmt.Sprintf("handle: no view of %v: %s: %s", e.Type, e.Path, e.Why)
}

// Check returns a *TypeError if a resource cannot hold elements of type T. An element
// must mean the same in every process, whatever its bytes are. These types do:
// integers whose name tells their size, floating-point and complex numbers, and arrays
// and structs of them.
//
// A struct may have padding. Padding and fields named _ are bytes of the resource: they
// travel with it and count for its size. But Go gives them no value, and an assignment
// may leave any bytes there. Use types without padding if you compare, sum or save
// resources byte for byte. All 64-bit machines use the same layout.
func Check[T any]() error { return checkType(reflect.TypeFor[T]()) }

// CheckFor returns an error if r cannot be viewed as elements of type T: a *TypeError if no resource
// can, an *ElementsError if its elements are of another type, and a *LengthError if its bytes are no
// whole number of elements at the start.
func CheckFor[T any](r *queue.Resource) error {
	if err := Check[T](); err != nil {
		return err
	}
	if err := checkElements[T](r); err != nil {
		return err
	}
	if !Fits[T](r.InitialSize()) {
		return &LengthError{Resource: r.Name(), Type: reflect.TypeFor[T](), Bytes: r.InitialSize()}
	}
	return nil
}

// ElementsError reports a view, or a file, of another type than the elements of a resource have: see
// [queue.Options].
type ElementsError struct {
	Resource string
	Elements reflect.Type // the type of its elements
	Asked    string       // the other type
}

func (e *ElementsError) Error() string {
	return fmt.Sprintf("handle: %q has elements of type %v, not %s: use %v, or declare it with another type", e.Resource, e.Elements, e.Asked, e.Elements)
}

// checkElements returns an *ElementsError if r has elements of another type.
func checkElements[T any](r *queue.Resource) error {
	if r == nil || r.Elements() == nil || r.Elements() == reflect.TypeFor[T]() {
		return nil
	}
	return &ElementsError{r.Name(), r.Elements(), reflect.TypeFor[T]().String()}
}

func checkType(t reflect.Type) error {
	name := t.Name()
	if name == "" {
		name = t.String()
	}
	if path, why := flaw(t, name); why != "" {
		return &TypeError{t, path, why}
	}
	if t.Size() == 0 {
		return &TypeError{t, name, "it has no bytes: use a type that has some"}
	}
	return nil
}

// flaw finds the first part of t that a resource cannot hold. A part without bytes is
// no flaw.
func flaw(t reflect.Type, path string) (where, why string) {
	switch t.Kind() {
	case reflect.Array:
		if t.Len() > 0 {
			return flaw(t.Elem(), path+"[]")
		}
	case reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			if where, why = flaw(f.Type, path+"."+f.Name); why != "" {
				return where, why
			}
		}
	default:
		return path, flaws[t.Kind()]
	}
	return path, ""
}

// flaws tells what is wrong with a kind of type. It has no entry for a good kind.
var flaws = map[reflect.Kind]string{
	reflect.Bool:          "a bool: only two of a byte's 256 values are valid: use uint8",
	reflect.Int:           "an int: its size depends on the machine: use int64 or int32",
	reflect.Uint:          "a uint: its size depends on the machine: use uint64 or uint32",
	reflect.Uintptr:       "a uintptr: its size depends on the machine: use uint64",
	reflect.Pointer:       "a pointer" + elsewhere + "an index",
	reflect.UnsafePointer: "a pointer" + elsewhere + "an index",
	reflect.Map:           "a map" + elsewhere + "an array",
	reflect.Slice:         "a slice" + elsewhere + "an array",
	reflect.String:        "a string" + elsewhere + "an array of uint8",
	reflect.Chan:          "a channel" + elsewhere + "a resource",
	reflect.Func:          "a function" + elsewhere + "a number",
	reflect.Interface:     "an interface" + elsewhere + "a type with bytes of its own",
}

const elsewhere = ": it points to memory of one process: use "

// Memo remembers the last type that passed, for the resource of the last request. Most handles use one type only.
type Memo struct {
	passed any // a nil *T of that type T
}

// checkOnce is Check of T, and of the elements of the place's resource. It does nothing if T was the last type that
// passed.
func checkOnce[T any](m *Memo, p *queue.Place) error {
	if _, passed := m.passed.(*T); passed {
		return nil
	}
	if err := Check[T](); err != nil {
		return err
	}
	r := p.Resource()
	if err := checkElements[T](r); err != nil {
		return err
	}
	if r != nil { // another one comes with a request
		m.passed = (*T)(nil)
	}
	return nil
}
