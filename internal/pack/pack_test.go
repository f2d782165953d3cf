package pack

import (
	"errors"
	"io"
	"reflect"
	"testing"
)

type lost struct {
	Node uint64 `msgpack:"node"`
	Why  string `msgpack:"why"`
	Last []byte `msgpack:"last"`
}

// TestDecode encodes a value, decodes it, and cuts it at every prefix.
func TestDecode(t *testing.T) {
	want := lost{Node: 1<<64 - 1, Why: "silent", Last: []byte{0, 255}}
	b := Encode(&want)
	var got lost
	if err := Decode(b, &got); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}
	for i := range b {
		if err := Decode(b[:i], new(lost)); !errors.Is(err, ErrMalformed) || errors.Is(err, io.EOF) {
			t.Errorf("%d bytes of %d: %v, want ErrMalformed", i, len(b), err)
		}
	}
	if err := Decode(append(b, 0), new(lost)); !errors.Is(err, ErrMalformed) {
		t.Errorf("a byte too much: %v, want ErrMalformed", err)
	}
}

// TestDecodeIsStrict decodes maps that are not of the struct.
func TestDecodeIsStrict(t *testing.T) {
	for what, v := range map[string]any{
		"a new field":  map[string]any{"node": 1, "colour": 1},
		"another type": map[string]any{"node": "two"},
		"a number":     7,
	} {
		if err := Decode(Encode(v), new(lost)); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: %v, want ErrMalformed", what, err)
		}
	}
}

// TestList keeps a blob that is missing apart from an empty one.
func TestList(t *testing.T) {
	want := [][]byte{{1}, nil, {}}
	got, err := List[[]byte](Encode(want), 3)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
	if _, err := List[[]byte](Encode(want), 2); !errors.Is(err, ErrMalformed) {
		t.Errorf("3 blobs for 2 nodes: %v, want ErrMalformed", err)
	}
}

// TestClaims says that 4 GiB follow. Memory follows what has come.
func TestClaims(t *testing.T) {
	for _, b := range [][]byte{{0xdd, 0xff, 0xff, 0xff, 0xff}, {0x91, 0xc6, 0xff, 0xff, 0xff, 0xff, 1}, {0xc0}, {}} {
		if _, err := List[[]byte](b, 1); !errors.Is(err, ErrMalformed) {
			t.Errorf("%v, want ErrMalformed", err)
		}
	}
}
