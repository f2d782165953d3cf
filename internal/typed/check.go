package typed

import (
	"fmt"
	"reflect"

	"github.com/orwl/go-orwl/internal/queue"
)

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
