package handle

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"testing"
	"unsafe"

	"pgregory.net/rapid"

	"github.com/orwl/go-orwl/internal/invariant"
	"github.com/orwl/go-orwl/internal/typed"
)

// cell is a struct with 4 bytes of padding at its end.
type cell struct {
	X, Y float64
	Kind uint32
	Near [4]uint16
}

// aligned returns n bytes, aligned as those in a resource.
func aligned(n int) []byte {
	words := make([]uint64, (n+7)/8+1)
	return unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), n)
}

// A shape checks all uses of views of one type.
type shape struct {
	name  string
	size  int // of an element
	bytes int // the bytes that are not padding
	check func(t fatal, b []byte, i, j int)
}

type fatal interface {
	Fatalf(format string, args ...any)
	Helper()
}

func shapeOf[T any](name string, size, bytes int) shape {
	return shape{name, size, bytes, func(t fatal, b []byte, i, j int) { checkViews[T](t, b, size, bytes, i, j) }}
}

var shapes = []shape{
	shapeOf[uint8]("uint8", 1, 1),
	shapeOf[int16]("int16", 2, 2),
	shapeOf[float32]("float32", 4, 4),
	shapeOf[float64]("float64", 8, 8),
	shapeOf[complex128]("complex128", 16, 16),
	shapeOf[[3]uint8]("three bytes", 3, 3),
	shapeOf[struct{ A, B uint16 }]("pair", 4, 4),
	shapeOf[cell]("cell", 32, 28),
}

var errLength = errors.New("no whole number of elements")

// castWrite is the cast of Write.
func castWrite[T any](b []byte) ([]T, error) {
	if !typed.Fits[T](len(b)) {
		return nil, errLength
	}
	return typed.Slice[T](b), nil
}

// castRead is the cast of Read.
func castRead[T any](b []byte) (View[T], error) {
	s, err := castWrite[T](b)
	return View[T](typed.ViewOn(s)), err
}

// checkViews compares views of b with package binary's decoding of the same bytes. It
// overwrites b.
func checkViews[T any](t fatal, b []byte, size, bytesOf, i, j int) {
	t.Helper()
	var one T
	if int(unsafe.Sizeof(one)) != size {
		t.Fatalf("a %T has %d bytes, want %d", one, unsafe.Sizeof(one), size)
	}
	v, err := castRead[T](b)
	s, errWrite := castWrite[T](b)
	if len(b)%size != 0 {
		if err != errLength || errWrite != errLength {
			t.Fatalf("%d bytes are %T: %v, %v", len(b), one, err, errWrite)
		}
		if v.Len() != 0 || s != nil {
			t.Fatalf("elements besides an error")
		}
		return
	}
	if err != nil || errWrite != nil {
		t.Fatalf("%d bytes as %T: %v, %v", len(b), one, err, errWrite)
	}
	n := len(b) / size
	if v.Len() != n || len(s) != n || cap(s) != n {
		t.Fatalf("%d elements to read, %d of %d to write, want %d", v.Len(), len(s), cap(s), n)
	}
	same := func(where string, x T, i int) {
		t.Helper()
		// Compare the encoding, so that equal NaNs are equal.
		got, err := binary.Append(nil, binary.NativeEndian, x)
		if want := b[i*size:][:bytesOf]; err != nil || !bytes.Equal(got, want) {
			t.Fatalf("%s %d is %x, want %x, %v", where, i, got, want, err)
		}
	}
	next := 0
	for k, x := range v.All() {
		if k != next {
			t.Fatalf("All goes on with %d, want %d", k, next)
		}
		same("All", x, k)
		same("At", v.At(k), k)
		next++
	}
	if next != n {
		t.Fatalf("All ends after %d of %d", next, n)
	}
	i, j = min(i, n), min(max(i, j), n)
	sub := v.Sub(i, j)
	if sub.Len() != j-i {
		t.Fatalf("Sub(%d, %d) has %d elements", i, j, sub.Len())
	}
	for k, x := range sub.All() {
		same("element of Sub", x, i+k)
	}
	if j < n && !panics(func() { sub.Sub(0, j-i+1) }) {
		t.Fatalf("Sub(%d, %d) shows more than its elements", i, j)
	}
	dst := make([]T, j+1)
	if got := v.Copy(dst); got != min(j+1, n) {
		t.Fatalf("Copy copied %d of %d to %d", got, n, j+1)
	}
	for k := range min(j+1, n) {
		same("copied", dst[k], k)
	}
	// A write to an element changes the bytes and the view.
	slices.Reverse(s)
	for k := range n {
		same("written", s[k], k)
		same("seen after writing", v.At(k), k)
	}
}

func panics(f func()) (did bool) {
	defer func() { did = recover() != nil }()
	f()
	return false
}

func TestViewsAreTheBytes(t *testing.T) {
	for _, sh := range shapes {
		t.Run(sh.name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				data := rapid.SliceOfN(rapid.Byte(), 0, 200).Draw(t, "bytes")
				if rapid.Bool().Draw(t, "whole") {
					data = data[:len(data)/sh.size*sh.size]
				}
				b := aligned(len(data))
				copy(b, data)
				at := rapid.IntRange(0, 100)
				sh.check(t, b, at.Draw(t, "i"), at.Draw(t, "j"))
			})
		})
	}
}

func FuzzViews(f *testing.F) {
	f.Add(uint8(3), []byte("0123456789abcdef"), uint8(0), uint8(1))
	f.Add(uint8(7), make([]byte, 96), uint8(1), uint8(2))
	f.Add(uint8(5), []byte("01234567"), uint8(0), uint8(9))
	f.Fuzz(func(t *testing.T, which uint8, data []byte, i, j uint8) {
		b := aligned(len(data))
		copy(b, data)
		shapes[int(which)%len(shapes)].check(t, b, int(i), int(j))
	})
}

// Slices and views show the bytes themselves, not a copy. An append copies.
func TestElementsAreInPlace(t *testing.T) {
	b := aligned(24)
	s, err := castWrite[uint64](b[:16:24])
	if err != nil {
		t.Fatal(err)
	}
	v, err := castRead[uint64](b[:16:24])
	if err != nil {
		t.Fatal(err)
	}
	s[1] = 0x0101010101010101
	if b[8] != 1 || b[15] != 1 || b[7] != 0 || b[16] != 0 || v.At(1) != s[1] {
		t.Errorf("after a write to element 1 the bytes are %x, and a view has %x", b, v.At(1))
	}
	if _ = append(s, 7); b[16] != 0 {
		t.Error("an append wrote behind the bytes")
	}
	b[0] = 2
	if v.At(0) != s[0] || s[0] == 0 {
		t.Errorf("after a write to byte 0 element 0 is %x, and a view has %x", s[0], v.At(0))
	}
}

func TestViewMisuse(t *testing.T) {
	v, err := castRead[float64](aligned(80))
	if err != nil {
		t.Fatal(err)
	}
	for name, use := range map[string]func(){
		"At(-1)":        func() { v.At(-1) },
		"At(10)":        func() { v.At(10) },
		"At of a Sub":   func() { v.Sub(2, 4).At(2) },
		"Sub(-1, 1)":    func() { v.Sub(-1, 1) },
		"Sub(3, 2)":     func() { v.Sub(3, 2) },
		"Sub(0, 11)":    func() { v.Sub(0, 11) },
		"zero View, At": func() { View[float64]{}.At(0) },
	} {
		if !panics(use) {
			t.Errorf("%s does not panic", name)
		}
	}
	if panics(func() { v.Sub(10, 10) }) {
		t.Error("Sub(10, 10) of 10 elements panics")
	}
}

func TestAllEndsWhenTold(t *testing.T) {
	v, err := castRead[float64](aligned(80))
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for i := range v.All() {
		if seen++; i == 3 {
			break
		}
	}
	if seen != 4 {
		t.Errorf("All gave %d elements to a loop that stopped after 4", seen)
	}
}

func TestViewsAllocateNothing(t *testing.T) {
	h := holder(t, newResource(t, 8000))
	var sum float64
	if n := testing.AllocsPerRun(100, func() {
		v, err := Read[float64](h)
		if err != nil {
			t.Fatal(err)
		}
		for i, x := range v.Sub(1, v.Len()).All() {
			sum += x + v.At(i)
		}
	}); n != 0 && !invariant.Enabled { // an assert allocates its arguments
		t.Errorf("a view allocates %v times", n)
	}
}

func TestMisalignedBytesAreAnInvariant(t *testing.T) {
	if !invariant.Enabled {
		t.Skip("asserts are off: go test -tags invariants")
	}
	defer func() {
		if _, ok := recover().(invariant.Violation); !ok {
			t.Error("a view of float64 at an odd address passed")
		}
	}()
	_, _ = castWrite[float64](aligned(9)[1:])
}
