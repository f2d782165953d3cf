package npy

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"strconv"
	"strings"
)

// Array describes bytes as NumPy does. It is what a .npy file says before its
// data.
type Array struct {
	DType   string // the type of an element: <f8, |u1, ...
	Shape   []int  // how many elements along each axis; without an axis it is one element
	Fortran bool   // the first axis varies fastest, instead of the last
}

// What is wrong with a .npy file, or with what is to become one. A file that ends
// too early matches io.ErrUnexpectedEOF besides ErrFormat.
var (
	// ErrFormat is a file that breaks the format.
	ErrFormat = errors.New("npy: not a .npy file of version 1, 2 or 3")
	// ErrType is an element that is no number, or not of this machine.
	ErrType = errors.New("npy: a resource cannot hold arrays of this type")
	// ErrSize is an array that is larger than its limit, or that differs from
	// its bytes in size.
	ErrSize = errors.New("npy: array of a wrong size")
)

// dtypes are the types of elements, and their sizes: numbers of fixed size, in
// this machine's byte order.
var dtypes = map[string]int{
	"|b1": 1, "|i1": 1, "|u1": 1,
	"<i2": 2, "<u2": 2, "<f2": 2,
	"<i4": 4, "<u4": 4, "<f4": 4,
	"<i8": 8, "<u8": 8, "<f8": 8,
	"<c8": 8, "<c16": 16,
}

// Limits on what is read. NumPy 2 has at most as many axes; so much header is
// never needed for them, hence version 1.0 is enough for all that is written.
const (
	mostAxes   = 64
	mostHeader = 1<<16 - 1
)

const (
	npyMagic = "\x93NUMPY"
	npyAlign = 64 // where the data begins
	npySpare = 21 // digits of the axis along which an array may be appended to in place
)

// Size is how many bytes the array's data has.
func (a Array) Size() (int, error) {
	size, known := dtypes[a.DType]
	if !known {
		return 0, fmt.Errorf("%w: %.20q %s", ErrType, a.DType, refusedDType(a.DType))
	}
	if len(a.Shape) > mostAxes {
		return 0, fmt.Errorf("%w: it has %d axes: reshape it to at most %d", ErrSize, len(a.Shape), mostAxes)
	}
	empty, overflow := false, false
	for axis, n := range a.Shape {
		if n < 0 {
			return 0, fmt.Errorf("%w: axis %d has %d elements", ErrSize, axis, n)
		}
		empty = empty || n == 0
		hi, lo := bits.Mul(uint(size), uint(n))
		overflow = overflow || hi != 0 || int(lo) < 0
		size = int(lo)
	}
	switch {
	case empty: // however many there would be along the other axes
		return 0, nil
	case overflow:
		return 0, fmt.Errorf("%w: shape %v of %s has more bytes than can be counted", ErrSize, a.Shape, a.DType)
	}
	return size, nil
}

// refusedDType says why a resource cannot hold elements of type d, and what to do.
func refusedDType(d string) string {
	kind := strings.TrimLeft(d, "<>|=")
	swapped, isNumber := "<"+kind, false
	if _, isNumber = dtypes[swapped]; !isNumber {
		swapped = "|" + kind
		_, isNumber = dtypes[swapped]
	}
	switch {
	case isNumber && d[0] == '>':
		return fmt.Sprintf("is big-endian: convert it with astype(%q)", swapped)
	case isNumber:
		return fmt.Sprintf("does not say its byte order as NumPy does: write %s", swapped)
	case strings.HasPrefix(kind, "O"):
		return "refers to Python objects: convert it to numbers"
	}
	return `is none of the numbers of fixed size: convert it, for example with astype("<f8")`
}

// Write writes data as a .npy file of version 1.0: byte for byte the one that
// NumPy writes.
func Write(w io.Writer, a Array, data []byte) error {
	size, err := a.Size()
	if err != nil {
		return err
	}
	if len(data) != size {
		return fmt.Errorf("%w: shape %v of %s has %d bytes, the data %d", ErrSize, a.Shape, a.DType, size, len(data))
	}
	for _, part := range [][]byte{a.header(), data} {
		if _, err := w.Write(part); err != nil {
			return fmt.Errorf("npy: writing an array: %w", err)
		}
	}
	return nil
}

// header is everything that comes before the data.
func (a Array) header() []byte {
	h := make([]byte, 10, 4*npyAlign)
	h = append(h, "{'descr': '"+a.DType+"', 'fortran_order': "...)
	if a.Fortran {
		h = append(h, "True"...)
	} else {
		h = append(h, "False"...)
	}
	h = append(h, ", 'shape': ("...)
	for axis, n := range a.Shape {
		if axis > 0 {
			h = append(h, ", "...)
		}
		h = strconv.AppendInt(h, int64(n), 10)
	}
	if len(a.Shape) == 1 {
		h = append(h, ',') // or Python would take it for a number in brackets
	}
	h = append(h, "), }"...)
	blanks := 0
	if len(a.Shape) > 0 {
		grows := a.Shape[0]
		if a.Fortran {
			grows = a.Shape[len(a.Shape)-1]
		}
		blanks = npySpare - len(strconv.Itoa(grows))
	}
	blanks += npyAlign - (len(h)+blanks+1)%npyAlign // at least one, as NumPy has it
	h = append(h, strings.Repeat(" ", blanks)...)
	h = append(h, '\n')
	copy(h, npyMagic+"\x01\x00")
	binary.LittleEndian.PutUint16(h[8:], uint16(len(h)-10))
	return h
}

// Read reads a .npy file whose data has at most limit bytes. The limit is
// checked before memory is allocated. What follows the array in r is not read.
func Read(r io.Reader, limit int64) (Array, []byte, error) {
	a, err := ReadHeader(r)
	if err != nil {
		return Array{}, nil, err
	}
	size, err := a.Size()
	if err != nil {
		return Array{}, nil, err
	}
	if int64(size) > limit {
		return Array{}, nil, fmt.Errorf("%w: shape %v of %s has %d bytes: the limit is %d", ErrSize, a.Shape, a.DType, size, limit)
	}
	data := make([]byte, size)
	if err := readPart(r, "data", data); err != nil {
		return Array{}, nil, err
	}
	return a, data, nil
}

// ReadHeader reads a .npy file up to where its data begins. What follows in r
// are Size bytes of data, which need not be copied to get to their place.
func ReadHeader(r io.Reader) (Array, error) {
	var prefix [12]byte
	if err := readPart(r, "beginning", prefix[:10]); err != nil {
		return Array{}, err
	}
	if magic := string(prefix[:len(npyMagic)]); magic != npyMagic {
		return Array{}, fmt.Errorf("%w: it begins with %q", ErrFormat, magic)
	}
	length := uint32(binary.LittleEndian.Uint16(prefix[8:]))
	switch major, minor := prefix[6], prefix[7]; {
	case major < 1 || major > 3 || minor != 0:
		return Array{}, fmt.Errorf("%w: it has version %d.%d: save it with version=(1, 0)", ErrFormat, major, minor)
	case major > 1:
		if err := readPart(r, "beginning", prefix[10:]); err != nil {
			return Array{}, err
		}
		length = binary.LittleEndian.Uint32(prefix[8:])
	}
	if length > mostHeader {
		return Array{}, fmt.Errorf("%w: its header has %d bytes: at most %d are read", ErrFormat, length, mostHeader)
	}
	header := make([]byte, length)
	if err := readPart(r, "header", header); err != nil {
		return Array{}, err
	}
	a, err := parseArray(string(header))
	if err != nil {
		return Array{}, err
	}
	if _, err := a.Size(); err != nil {
		return Array{}, err
	}
	return a, nil
}

// readPart fills b from r.
func readPart(r io.Reader, part string, b []byte) error {
	n, err := io.ReadFull(r, b)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("%w: %w: its %s has %d of %d bytes: get the whole file", ErrFormat, io.ErrUnexpectedEOF, part, n, len(b))
	}
	return fmt.Errorf("npy: reading the %s of an array: %w", part, err)
}
