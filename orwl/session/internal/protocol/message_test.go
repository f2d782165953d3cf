package protocol

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/vmihailenco/msgpack/v5"
)

func messages() []Message {
	id := make([]byte, sizeID)
	return []Message{
		{Hello: &Hello{ID: id, Who: "host", Known: true, Sent: -1}},
		{Beat: &Beat{Sent: 1 << 60}, Taken: 7},
		{Number: 1, Request: &Request{Name: "x", Read: true}},
		{Number: 2, Withdraw: &Withdraw{1}},
		{Number: 3, Release: &Grip{1, 1<<64 - 1}},
		{Number: 4, Read: &Grip{}},
		{Number: 5, Write: &Write{1, 2, []byte{0, 255}}},
		{Number: 6, List: &List{"a", "b"}},
		{Number: 7, Watch: &Watch{"x", 9}},
		{Number: 8, Revoke: &Revoke{"x", 9}},
		{Admission: &Admission{Session: 3, Length: 1500, Skew: 250, Sent: 4}},
		{Echo: &Beat{}},
		{Number: 9, Granted: &Granted{1, Grant{2, 3, true}}},
		{Number: 10, Revoked: &Loss{1, "why"}},
		{Number: 11, Lost: &Loss{}},
		{Number: 12, Answer: &Answer{Call: 5, Code: Stale, States: []State{{Name: "x", Requests: []Holder{{Who: "a"}}}}}},
		{Bye: &Bye{"why"}},
	}
}

// TestMessages encodes each message, reads it, and cuts it at every prefix.
func TestMessages(t *testing.T) {
	seen := make(map[string]bool)
	for _, m := range messages() {
		b := m.Append(nil)
		got, err := Next(bytes.NewReader(b))
		if m.Version = Version; err != nil || !reflect.DeepEqual(got, m) {
			t.Errorf("%+v: read %+v, %v", m, got, err)
		}
		for i := range b {
			if _, err := Next(bytes.NewReader(b[:i])); err == nil {
				t.Errorf("%d bytes of %d are read", i, len(b))
			}
		}
		if _, err := Parse(append(b[4:], 0)); !errors.Is(err, ErrMessage) {
			t.Errorf("a byte too much: %v, want ErrMessage", err)
		}
		v := reflect.ValueOf(m)
		for i := range v.NumField() {
			if v.Field(i).Kind() == reflect.Pointer && !v.Field(i).IsNil() {
				seen[v.Type().Field(i).Name] = true
			}
		}
	}
	if want := reflect.TypeFor[Message]().NumField() - 3; len(seen) != want {
		t.Errorf("%d kinds of message were tried, want %d", len(seen), want)
	}
}

// TestRefused parses what no end of this version says.
func TestRefused(t *testing.T) {
	id := make([]byte, sizeID)
	for what, v := range map[string]any{
		"another version":          map[string]any{"version": Version + 1, "beat": Beat{}},
		"no version":               map[string]any{"beat": Beat{}},
		"nothing":                  map[string]any{"version": Version},
		"two things":               map[string]any{"version": Version, "beat": Beat{}, "echo": Beat{}},
		"a new field":              map[string]any{"version": Version, "beat": map[string]any{"colour": 1}},
		"a request without number": map[string]any{"version": Version, "request": Request{Name: "x"}},
		"a beat with a number":     map[string]any{"version": Version, "number": 4, "beat": Beat{}},
		"a short id":               map[string]any{"version": Version, "hello": Hello{ID: id[1:]}},
		"a long description":       map[string]any{"version": Version, "hello": Hello{ID: id, Who: strings.Repeat("w", MaxWho+1)}},
		"no name":                  map[string]any{"version": Version, "number": 1, "request": Request{}},
		"a long name":              map[string]any{"version": Version, "number": 1, "watch": Watch{Name: strings.Repeat("n", MaxName+1)}},
		"a long prefix":            map[string]any{"version": Version, "number": 1, "list": List{Prefix: strings.Repeat("n", MaxName+1)}},
		"too many bytes":           map[string]any{"version": Version, "number": 1, "write": Write{Bytes: make([]byte, MaxBytes+1)}},
		"no lease":                 map[string]any{"version": Version, "admission": Admission{}},
		"a skew as long as that":   map[string]any{"version": Version, "admission": Admission{Length: 10, Skew: 10}},
		"a lease without end":      map[string]any{"version": Version, "admission": Admission{Length: 1 << 62}},
		"a number":                 7,
	} {
		b, err := msgpack.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		if m, err := Parse(b); !errors.Is(err, ErrMessage) {
			t.Errorf("%s: %+v, %v, want ErrMessage", what, m, err)
		}
	}
}

// TestClaims claims more than comes. Memory follows what has come.
func TestClaims(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range 10 {
		if _, err := Next(bytes.NewReader(binary.LittleEndian.AppendUint32(nil, 1<<32-1))); !errors.Is(err, ErrMessage) {
			t.Errorf("a message of 4 GiB: %v, want ErrMessage", err)
		}
		if _, err := Next(bytes.NewReader(append(binary.LittleEndian.AppendUint32(nil, MaxMessage), 1))); !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
			t.Errorf("one byte of many: %v", err)
		}
	}
	// A list that claims 4 G rows, and has none.
	states := (Message{Number: 1, Answer: &Answer{States: []State{}}}).Append(nil)[4:]
	at := bytes.Index(states, []byte("states")) + len("states")
	claim := append(bytes.Clone(states[:at]), 0xdd, 0xff, 0xff, 0xff, 0xff)
	for range 10 {
		if _, err := Parse(claim); !errors.Is(err, ErrMessage) {
			t.Errorf("a list of 4 G rows: %v, want ErrMessage", err)
		}
	}
	runtime.ReadMemStats(&after)
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 1<<20 {
		t.Errorf("%d KiB were allocated for some bytes", grown>>10)
	}
}

// FuzzNext reads anything. A message has one encoding.
func FuzzNext(f *testing.F) {
	for _, m := range messages() {
		f.Add(m.Append(nil))
	}
	f.Add([]byte{255, 255, 255, 255})
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := Next(bytes.NewReader(b))
		if err != nil {
			return
		}
		again := m.Append(nil)
		back, err := Next(bytes.NewReader(again))
		if err != nil || !reflect.DeepEqual(back, m) {
			t.Errorf("%+v is read as %+v, %v", m, back, err)
		}
	})
}
