package wire_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"testing"

	"github.com/orwl/go-orwl/net/wire"
)

// FuzzFrame reads anything as a frame. A frame that can be read is the same when it is written
// and read again.
func FuzzFrame(f *testing.F) {
	for i, s := range specimens() {
		if i%7 == 0 && len(s.bytes) < 1<<12 {
			f.Add(s.bytes)
			f.Add(s.bytes[:len(s.bytes)/2])
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		size, err := wire.HeaderSize(b)
		if err != nil || size == 0 || size > len(b) {
			return
		}
		h, body, err := parse(b)
		if err != nil {
			if !errors.Is(err, wire.ErrMalformed) && !errors.Is(err, wire.ErrTooLarge) {
				t.Fatalf("%v is no error of this package", err)
			}
			return
		}
		if hello, ok := body.(*wire.Hello); ok && hello.Version != wire.Version {
			return // the rest of it is not known
		}
		again := write(h, body)
		h2, body2, err := parse(again)
		if err != nil || h != h2 || !reflect.DeepEqual(body, body2) {
			t.Fatalf("%+v, %+v became %+v, %+v, %v", h, body, h2, body2, err)
		}
		if len(again) > size && h.Kind != wire.KindHello { // the library writes the integers of a hello in full
			t.Fatalf("%d bytes became %d: not the shortest form", size, len(again))
		}
	})
}

// FuzzReader reads anything as anything, in the order that the second argument says.
func FuzzReader(f *testing.F) {
	b := wire.AppendString(wire.AppendUint(wire.AppendArray(nil, 2), 1<<40), "text")
	f.Add(wire.AppendBool(wire.AppendBytes(b, make([]byte, 300)), true), []byte{3, 0, 2, 1, 4})
	f.Add(wire.AppendUint(wire.AppendUint([]byte{1}, 1<<15), 1<<60), []byte{0, 0, 0})
	f.Add([]byte{0xdd, 255, 255, 255, 255}, []byte{3})
	f.Add([]byte{0xc6, 255, 255, 255, 255, 1}, []byte{1})
	f.Add([]byte{0xdb, 255, 255, 255, 255, 1}, []byte{2})
	f.Fuzz(func(t *testing.T, b, order []byte) {
		r, left := wire.NewReader(b), len(b)
		for _, what := range order {
			switch what % 5 {
			case 0:
				r.Uint()
			case 1:
				left -= len(r.Bytes())
			case 2:
				left -= len(r.String())
			case 3:
				if n := r.Array(); n > left {
					t.Fatalf("an array of %d in %d bytes", n, left)
				}
			case 4:
				r.Bool()
			}
		}
		if left < 0 {
			t.Fatalf("%d bytes more than there are", -left)
		}
		if err := r.Done(); err != nil && !errors.Is(err, wire.ErrMalformed) {
			t.Fatalf("%v is no error of this package", err)
		}
	})
}

// FuzzInput reads anything as a stream, in small pieces and at once, with the same
// result.
func FuzzInput(f *testing.F) {
	var stream []byte
	for i, s := range specimens() {
		if i%9 == 0 && len(s.bytes) < 1<<10 {
			stream = append(append(stream, s.bytes...), make([]byte, min(s.head.Bulk, 64))...)
			f.Add(stream[max(0, len(stream)-2048):], 3)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte, step int) {
		whole := frames(wire.NewInput(bytes.NewReader(b), 1<<12))
		pieces := frames(wire.NewInput(&steps{b, max(1, step)}, 1<<12))
		if !reflect.DeepEqual(whole, pieces) {
			t.Fatalf("at once: %+v\nin steps: %+v", whole, pieces)
		}
	})
}

// frames reads a stream to its end and prints what it finds.
func frames(in *wire.Input) (found []any) {
	for i := 0; ; i++ {
		h, r, err := in.Next()
		if err != nil {
			return append(found, err.Error())
		}
		body, err := parseBody(h.Kind, r)
		found = append(found, h, fmt.Sprintf("%+v", body), err) // before it is overwritten
		switch i % 3 {
		case 0:
			bulk, err := in.BulkGrowing(nil)
			found = append(found, bulk, err)
		case 1:
			bulk := make([]byte, h.Bulk)
			found = append(found, in.Bulk(bulk), bulk)
		}
	}
}

// steps is a stream that returns so many bytes at a time, and at the end an error
// together with the last of them.
type steps struct {
	rest []byte
	n    int
}

func (s *steps) Read(b []byte) (int, error) {
	n := copy(b[:min(len(b), s.n)], s.rest)
	s.rest = s.rest[n:]
	if len(s.rest) == 0 {
		return n, io.EOF
	}
	return n, nil
}
