package wire_test

import (
	"bytes"
	"encoding/binary"
	"reflect"
	"testing"

	"github.com/vmihailenco/msgpack/v5"

	"github.com/orwl/go-orwl/net/wire"
)

// TestLibraryReads lets a msgpack library read every header.
func TestLibraryReads(t *testing.T) {
	for _, s := range specimens() {
		rest := bytes.NewReader(s.bytes[4:])
		d := msgpack.NewDecoder(rest)
		got, err := d.DecodeSlice()
		if err != nil || rest.Len() > 0 {
			t.Fatalf("%v: %v, %d bytes are left", s.head, err, rest.Len())
		}
		if want := elements(s); !reflect.DeepEqual(plain(got), want) {
			t.Fatalf("%v: read %v, want %v", s.head, got, want)
		}
	}
}

// TestLibraryWrites lets a msgpack library write every header, byte for byte as we
// do by hand; and once more with all integers in their longest form, which is read too.
func TestLibraryWrites(t *testing.T) {
	for _, s := range specimens() {
		for _, compact := range []bool{true, false} {
			var b bytes.Buffer
			e := msgpack.NewEncoder(&b)
			e.UseCompactInts(compact)
			if err := e.Encode(elements(s)); err != nil {
				t.Fatal(err)
			}
			frame := append(binary.LittleEndian.AppendUint32(nil, uint32(b.Len())), b.Bytes()...)
			byHand := s.head.Kind != wire.KindHello
			if compact && byHand && !bytes.Equal(frame, s.bytes) {
				t.Fatalf("%v: we write\n%x, the library\n%x", s.head, s.bytes, frame)
			}
			h, body, err := parse(frame)
			if err != nil || h != s.head || !reflect.DeepEqual(body, s.body) {
				t.Fatalf("%v: read %v, %+v, %v, want %+v", s.head, h, body, err, s.body)
			}
		}
	}
}

// elements are a whole header.
func elements(s specimen) []any {
	head := []any{uint64(s.head.Kind), s.head.Number, uint64(s.head.Bulk)}
	return append(head, s.fields...)
}

// plain makes all integers what they are meant to be: the library gives each the
// type of its form.
func plain(elements []any) []any {
	for i, v := range elements {
		switch v := reflect.ValueOf(v); {
		case v.Kind() == reflect.Map:
			named := v.Interface().(map[string]any)
			for name, value := range named {
				named[name] = plain([]any{value})[0]
			}
		case v.CanInt():
			elements[i] = uint64(v.Int())
		case v.CanUint():
			elements[i] = v.Uint()
		}
	}
	return elements
}

// TestReader reads all forms of values that upper layers may use, short and long.
func TestReader(t *testing.T) {
	for _, n := range []int{0, 1, 15, 16, 31, 32, 255, 256, 65535, 65536} {
		text := string(bytes.Repeat([]byte("x"), n))
		b := wire.AppendArray(nil, n)
		b = append(b, make([]byte, n)...)
		b = wire.AppendString(b, text)
		b = wire.AppendBytes(b, []byte(text))
		b = wire.AppendBool(wire.AppendBool(b, true), false)

		r := wire.NewReader(b)
		if got := r.Array(); got != n {
			t.Fatalf("an array of %d is read as one of %d: %v", n, got, r.Err())
		}
		for range n {
			r.UintTo(0)
		}
		if got := r.String(); got != text {
			t.Fatalf("%d bytes of text are read as %d: %v", n, len(got), r.Err())
		}
		if got := r.Bytes(); string(got) != text || cap(got) != len(got) {
			t.Fatalf("%d bytes are read as %d of %d: %v", n, len(got), cap(got), r.Err())
		}
		if yes, no := r.Bool(), r.Bool(); !yes || no || r.Done() != nil {
			t.Fatalf("true and false are read as %v and %v: %v", yes, no, r.Done())
		}

		d := msgpack.NewDecoder(bytes.NewReader(b))
		array, err := d.DecodeSlice()
		if err != nil || len(array) != n {
			t.Fatalf("the library reads an array of %d as %d: %v", n, len(array), err)
		}
		if s, err := d.DecodeString(); err != nil || s != text {
			t.Fatalf("the library reads %d bytes of text as %d: %v", n, len(s), err)
		}
		if p, err := d.DecodeBytes(); err != nil || string(p) != text {
			t.Fatalf("the library reads %d bytes as %d: %v", n, len(p), err)
		}
	}
}

// TestReaderSticks reads on behind a failure: zeroes, and the first error.
func TestReaderSticks(t *testing.T) {
	r := wire.NewReader([]byte{1, 0xc0, 1, 1, 1})
	if v := r.Uint(); v != 1 {
		t.Fatal(v)
	}
	r.Bytes()
	first := r.Err()
	if r.Uint() != 0 || r.Bool() || r.Array() != 0 || r.String() != "" || r.Bytes() != nil || first == nil || r.Done() != first {
		t.Errorf("something is read behind %v, or the error becomes %v", first, r.Done())
	}
}
