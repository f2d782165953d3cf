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

// Array describes bytes as NumPy does. A .npy file has this description in front of
// its data.
type Array struct {
	DType   string // the type of an element: <f8, |u1, ...
	Shape   []int  // the number of elements along each axis; no axis means one element
	Fortran bool   // the first axis varies fastest, not the last
}

// The errors of this package. A file that ends too early matches
// io.ErrUnexpectedEOF and ErrFormat.
var (
	// ErrFormat: the file breaks the format.
	ErrFormat = errors.New("npy: not a .npy file of version 1, 2 or 3")
	// ErrType: the elements are not numbers in this machine's byte order.
	ErrType = errors.New("npy: cannot read or write elements of this type")
	// ErrSize: the array is larger than the limit, or its bytes have another size.
	ErrSize = errors.New("npy: array of a wrong size")
)

// dtypes maps the types of elements to their sizes: numbers of fixed size, in this
// machine's byte order.
var dtypes = map[string]int{
	"|b1": 1, "|i1": 1, "|u1": 1,
	"<i2": 2, "<u2": 2, "<f2": 2,
	"<i4": 4, "<u4": 4, "<f4": 4,
	"<i8": 8, "<u8": 8, "<f8": 8,
	"<c8": 8, "<c16": 16,
}

// Limits. NumPy 2 has the same limit on axes. The header of so many axes is shorter
// than mostHeader, so Write always writes version 1.0.
const (
	mostAxes   = 64
	mostHeader = 1<<16 - 1
)

const (
	magic = "\x93NUMPY"
	align = 64 // the data begins at a multiple of it
	// spare is the room for the digits of one axis. NumPy can append along this axis
	// in place.
	spare = 21
)

// Size is the number of bytes of the array's data.
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
	case empty: // the other axes do not matter
		return 0, nil
	case overflow:
		return 0, fmt.Errorf("%w: shape %v of %s has more bytes than can be counted", ErrSize, a.Shape, a.DType)
	}
	return size, nil
}

// refusedDType says why the package refuses the type d, and what to do.
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

// Write writes data as a .npy file of version 1.0, byte for byte as NumPy does.
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

// header is the part of the file before the data.
func (a Array) header() []byte {
	h := make([]byte, 10, 4*align)
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
		h = append(h, ',') // otherwise Python reads a number in brackets
	}
	h = append(h, "), }"...)
	blanks := 0
	if len(a.Shape) > 0 {
		grows := a.Shape[0]
		if a.Fortran {
			grows = a.Shape[len(a.Shape)-1]
		}
		blanks = spare - len(strconv.Itoa(grows))
	}
	blanks += align - (len(h)+blanks+1)%align // at least one, as in NumPy
	h = append(h, strings.Repeat(" ", blanks)...)
	h = append(h, '\n')
	copy(h, magic+"\x01\x00")
	binary.LittleEndian.PutUint16(h[8:], uint16(len(h)-10))
	return h
}

// Read reads a .npy file with at most limit bytes of data. It checks the limit
// before it allocates memory, and leaves the bytes after the array in r.
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

// ReadHeader reads a .npy file up to its data. The next Size bytes of r are the data:
// the caller can read them directly to their destination.
func ReadHeader(r io.Reader) (Array, error) {
	var prefix [12]byte
	if err := readPart(r, "beginning", prefix[:10]); err != nil {
		return Array{}, err
	}
	if begin := string(prefix[:len(magic)]); begin != magic {
		return Array{}, fmt.Errorf("%w: it begins with %q", ErrFormat, begin)
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

// literal reads a Python literal, as far as NumPy uses the language in a header.
// After the first error it does not move, and accept finds nothing.
type literal struct {
	all, rest string
	err       error
}

// parseArray reads the header's dictionary. It has the keys descr, fortran_order and
// shape in any order.
func parseArray(text string) (a Array, err error) {
	p := &literal{all: text, rest: text}
	seen := make(map[string]bool, 3)
	p.expect("{")
	for p.err == nil && !p.accept("}") {
		key := p.quoted()
		p.expect(":")
		switch key {
		case "descr":
			a.DType = p.dtype()
		case "fortran_order":
			a.Fortran = p.boolean()
		case "shape":
			a.Shape = p.tuple()
		default:
			p.fail("a key of %.20q: want descr, fortran_order and shape", key)
		}
		if seen[key] {
			p.fail("%s twice", key)
		}
		seen[key] = true
		if !p.accept(",") {
			p.expect("}")
			break
		}
	}
	if p.skip(); p.rest != "" {
		p.fail("%.20q after the dictionary", p.rest)
	}
	if len(seen) != 3 {
		p.fail("%d keys: want descr, fortran_order and shape", len(seen))
	}
	if p.err != nil {
		return Array{}, p.err
	}
	return a, nil
}

// dtype reads the name of a type. It recognises the description of a structure, so
// that the error can say why the package refuses it.
func (p *literal) dtype() string {
	if p.accept("[") {
		p.err = fmt.Errorf("%w: an element is a structure: save each field as an array of its own", ErrType)
	}
	return p.quoted()
}

// quoted reads a string without escapes.
func (p *literal) quoted() string {
	quote := "'"
	if !p.accept(quote) {
		quote = `"`
		p.expect(quote)
	}
	text, rest, ended := strings.Cut(p.rest, quote)
	if !ended || strings.ContainsAny(text, "\\\n") {
		p.fail("no plain string")
	}
	if p.err != nil {
		return ""
	}
	p.rest = rest
	return text
}

// boolean reads True or False.
func (p *literal) boolean() bool {
	if p.accept("True") {
		return true
	}
	p.expect("False")
	return false
}

// tuple reads a tuple of sizes.
func (p *literal) tuple() []int {
	sizes := []int{}
	p.expect("(")
	for p.err == nil && !p.accept(")") {
		if len(sizes) == mostAxes {
			p.fail("more than %d axes", mostAxes)
		}
		sizes = append(sizes, p.number())
		if !p.accept(",") {
			p.expect(")")
			if len(sizes) == 1 {
				p.fail("a number in brackets: a shape of one axis ends in a comma")
			}
			break
		}
	}
	return sizes
}

// number reads a size. Python 2 put an L behind large numbers.
func (p *literal) number() int {
	p.skip()
	digits := p.rest[:len(p.rest)-len(strings.TrimLeft(p.rest, "0123456789"))]
	n, err := strconv.Atoi(digits)
	if err != nil {
		p.fail("no size: %.20q", p.rest)
		return 0
	}
	p.rest = p.rest[len(digits):]
	p.accept("L")
	return n
}

// skip passes blanks.
func (p *literal) skip() { p.rest = strings.TrimLeft(p.rest, " \t\r\n") }

// accept passes token if it comes next, and reports whether it does.
func (p *literal) accept(token string) bool {
	p.skip()
	rest, found := strings.CutPrefix(p.rest, token)
	if found = found && p.err == nil; found {
		p.rest = rest
	}
	return found
}

// expect passes token, or fails.
func (p *literal) expect(token string) {
	if !p.accept(token) {
		p.fail("%.20q: want %s", p.rest, token)
	}
}

// fail keeps the first error.
func (p *literal) fail(format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf("%w: byte %d of its header: found "+format, append([]any{ErrFormat, len(p.all) - len(p.rest)}, args...)...)
	}
}
