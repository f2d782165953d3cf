package files

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
)

// kind is a type of cells in the words of each format.
type kind struct {
	npy, zarr, vtk string // of a number; vtk is empty if VTK has no such numbers
	count          []int  // a cell is an array of so many numbers; none if it is a number
}

var errCell = errors.New("files: a cell is a number, or an array of numbers")

// numbers are the types of numbers. VTK and zarr have the same names, with a number of bits behind them.
var numbers = map[reflect.Kind]kind{
	reflect.Int8: {npy: "|i1"}, reflect.Int16: {npy: "<i2"}, reflect.Int32: {npy: "<i4"}, reflect.Int64: {npy: "<i8"},
	reflect.Uint8: {npy: "|u1", vtk: "UInt8"}, reflect.Uint16: {npy: "<u2", vtk: "UInt16"}, reflect.Uint32: {npy: "<u4", vtk: "UInt32"},
	reflect.Uint64: {npy: "<u8", vtk: "UInt64"}, reflect.Float32: {npy: "<f4"}, reflect.Float64: {npy: "<f8"},
	reflect.Complex64: {npy: "<c8", vtk: "none"}, reflect.Complex128: {npy: "<c16", vtk: "none"},
}

func kindOf(t reflect.Type) (kind, error) {
	var count []int
	if t.Kind() == reflect.Array {
		count, t = []int{t.Len()}, t.Elem()
	}
	k, known := numbers[t.Kind()]
	if !known {
		return kind{}, fmt.Errorf("%w: this one is %v", errCell, t)
	}
	name := t.Kind().String()
	k.zarr = name
	switch k.vtk {
	case "":
		k.vtk = strings.ToUpper(name[:1]) + name[1:]
	case "none":
		k.vtk = ""
	}
	k.count = count
	return k, nil
}

// numbersEach is how many numbers a cell has.
func (k kind) numbersEach() int {
	if len(k.count) > 0 {
		return k.count[0]
	}
	return 1
}
