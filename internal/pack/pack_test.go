package pack

import (
	"bytes"
	"errors"
	"io"
	"reflect"
	"testing"

	"github.com/orwl/go-orwl/internal/rings"
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

// TestLists keeps a blob that is missing apart from an empty one.
func TestLists(t *testing.T) {
	want := [][]byte{{1}, nil, {}}
	var got [][]byte
	if err := Decode(Encode(want), &got); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
	type all struct {
		Lists map[string][][]uint64 `msgpack:"lists"`
	}
	in := all{map[string][][]uint64{"a": {{1, 2}, nil, {}}, "b": nil, "c": make([][]uint64, 70000)}}
	var out all
	if err := Decode(Encode(&in), &out); err != nil || !reflect.DeepEqual(in, out) {
		t.Errorf("%v, and something else came out", err)
	}
}

// TestClaims says that many values follow, in each kind of place. Memory follows what has come.
func TestClaims(t *testing.T) {
	rings.Computes(t)
	type lists struct {
		Lost []lost           `msgpack:"l"`
		By   map[string]uint8 `msgpack:"m"`
	}
	long := []byte{0xff, 0xff, 0xff, 0xff}
	for what, b := range map[string][]byte{
		"list":            append([]byte{0xdd}, long...),
		"list of 2^31":    {0xdd, 0x80, 0, 0, 0},
		"short list":      {0xdc, 0xff, 0xff},
		"map":             append([]byte{0xdf}, long...),
		"map of 2^31":     {0xdf, 0x80, 0, 0, 0},
		"bytes in a list": append(append([]byte{0x91, 0xc6}, long...), 1),
		"field":           append([]byte{0x81, 0xa1, 'l', 0xdd}, long...),
		"map in a field":  append([]byte{0x81, 0xa1, 'm', 0xdf}, long...),
		"two fields":      {0x82, 0xa1, 'l', 0x92, 0x80, 0xa1, 'm', 0x80},
		"lists in lists":  bytes.Repeat([]byte{0x91}, 1<<22),
		"nothing":         {},
		"nil":             {0xc0, 0xc0},
	} {
		for _, v := range []any{new([][]byte), new([]lost), new(lists), new(map[string]string), new(lost)} {
			if err := Decode(b, v); !errors.Is(err, ErrMalformed) {
				t.Errorf("%s as a %T: %v, want ErrMalformed", what, v, err)
			}
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(Encode(&lost{Node: 3, Why: "silent", Last: []byte{1}}))
	f.Add([]byte{0x82, 0xa1, 'l', 0x92, 0x80, 0xa1, 'm', 0xdd, 0xff, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, b []byte) {
		var v struct {
			Lost []lost             `msgpack:"l"`
			By   map[string][]int64 `msgpack:"m"`
			Any  [][]byte           `msgpack:"a"`
		}
		if err := Decode(b, &v); err == nil {
			again := v
			if err := Decode(Encode(&v), &again); err != nil || !reflect.DeepEqual(v, again) {
				t.Errorf("%+v becomes %+v, %v", v, again, err)
			}
		} else if !errors.Is(err, ErrMalformed) {
			t.Errorf("%v, want ErrMalformed", err)
		}
	})
}
