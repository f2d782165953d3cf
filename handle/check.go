package handle

import (
	"fmt"
	"reflect"
)

// TypeError is a type whose elements a resource cannot hold.
type TypeError struct {
	Type reflect.Type
	Path string // from the type to what is wrong in it: cell.next, row[].name
	Why  string
}

func (e *TypeError) Error() string {
	return fmt.Sprintf("handle: no view of %v: %s: %s", e.Type, e.Path, e.Why)
}

// Check reports, as a *TypeError, why a resource cannot hold elements of type T:
// they have to mean the same in every process, whatever bytes they consist of.
// That is so for integers whose size is in their name, floating-point and complex
// numbers, and arrays and structs of these.
//
// A struct may have padding. The padding, and fields named _, are bytes of the
// resource like others: they travel with it and count for its size. But Go gives
// them no value, and an assignment may leave anything there. Who compares, sums
// or saves resources byte for byte should use types without padding. Between
// machines of 64 bits the layout is the same.
func Check[T any]() error { return checkType(reflect.TypeFor[T]()) }

func checkType(t reflect.Type) error {
	name := t.Name()
	if name == "" {
		name = t.String()
	}
	if path, why := flaw(t, name); why != "" {
		return &TypeError{t, path, why}
	}
	if t.Size() == 0 {
		return &TypeError{t, name, "it has no bytes, so that any number of it would fit"}
	}
	return nil
}

// flaw is the first thing in t that a resource cannot hold, and where it is. What
// has no bytes is no flaw.
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

// flaws says what is wrong with kinds of types, if anything.
var flaws = map[reflect.Kind]string{
	reflect.Bool:          "a bool: of the 256 values that a byte can have, it has two: use uint8",
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

// typeMemo is the type that has passed last. Most handles are asked for one type
// all their lives.
type typeMemo struct{ passed reflect.Type }

// checkOnce is Check, which is spared if T has passed last.
func checkOnce[T any](m *typeMemo) error {
	t := reflect.TypeFor[T]()
	if t == m.passed {
		return nil
	}
	return m.check(t)
}

func (m *typeMemo) check(t reflect.Type) error {
	if err := checkType(t); err != nil {
		return err
	}
	m.passed = t
	return nil
}
