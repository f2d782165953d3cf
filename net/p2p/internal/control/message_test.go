package control

import (
	"bytes"
	"errors"
	"reflect"
	"testing"

	"github.com/vmihailenco/msgpack/v5"
)

func messages() []Message {
	return []Message{
		{Change: &Change{Epoch: 2}},
		{Give: &Gathering{Name: "plan", Round: 1 << 40}},
		{Gathered: &Gathering{}},
		{Arena: &Arena{Machine: "m", PID: 1, FD: 1<<64 - 1, Token: []byte{0, 255}}},
		{Mapped: &Mapped{Mapped: true}},
	}
}

// TestMessages encodes each message, parses it, and cuts it at every prefix.
func TestMessages(t *testing.T) {
	for _, m := range messages() {
		b := m.Bytes()
		got, err := Parse(b)
		if m.Version = Version; err != nil || !reflect.DeepEqual(got, m) {
			t.Errorf("%+v: parsed %+v, %v", m, got, err)
		}
		for i := range b {
			if _, err := Parse(b[:i]); !errors.Is(err, ErrMessage) {
				t.Errorf("%d bytes of %d: %v, want ErrMessage", i, len(b), err)
			}
		}
		if _, err := Parse(append(b, 0)); !errors.Is(err, ErrMessage) {
			t.Errorf("a byte too much: %v, want ErrMessage", err)
		}
	}
}

// TestRefused parses what no node of this version says.
func TestRefused(t *testing.T) {
	for what, v := range map[string]any{
		"another version": map[string]any{"version": 1, "mapped": map[string]any{}},
		"no version":      map[string]any{"mapped": map[string]any{}},
		"nothing":         map[string]any{"version": 2},
		"two things":      map[string]any{"version": 2, "mapped": map[string]any{}, "change": map[string]any{}},
		"a new field":     map[string]any{"version": 2, "mapped": map[string]any{"colour": 1}},
		"a new message":   map[string]any{"version": 2, "news": map[string]any{}},
		"another type":    map[string]any{"version": 2, "change": map[string]any{"epoch": "two"}},
		"a number":        7,
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

// TestNames reads messages as any tool would: by the names of their fields.
func TestNames(t *testing.T) {
	var got map[string]any
	b := Message{Give: &Gathering{Name: "plan", Round: 2}}.Bytes()
	if err := msgpack.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	give, ok := got["give"].(map[string]any)
	if len(got) != 2 || !ok || give["name"] != "plan" || give["round"] != uint64(2) {
		t.Errorf("read %v", got)
	}
}

func FuzzParse(f *testing.F) {
	for _, m := range messages() {
		f.Add(m.Bytes())
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := Parse(b)
		if err != nil {
			return
		}
		again := m.Bytes()
		if back, err := Parse(again); err != nil || !reflect.DeepEqual(back, m) {
			t.Errorf("%+v is parsed as %+v, %v", m, back, err)
		}
		if !bytes.Equal(again, m.Bytes()) {
			t.Error("a message has two encodings")
		}
	})
}

func FuzzParseSite(f *testing.F) {
	f.Add(Site{Plan: "p", Machine: "m"}.Bytes())
	f.Fuzz(func(t *testing.T, b []byte) {
		if s, err := ParseSite(b); err == nil {
			if back, err := ParseSite(s.Bytes()); err != nil || back != s {
				t.Errorf("%+v is parsed as %+v, %v", s, back, err)
			}
		}
	})
}

func FuzzParsePlace(f *testing.F) {
	f.Add(Place{Path: "/proc/1/fd/3", File: "1:2"}.Bytes())
	f.Fuzz(func(t *testing.T, b []byte) {
		if p, err := ParsePlace(b); err == nil {
			if back, err := ParsePlace(p.Bytes()); err != nil || back != p {
				t.Errorf("%+v is parsed as %+v, %v", p, back, err)
			}
		}
	})
}

// BenchmarkMessage is what a message costs, to be compared with BenchmarkAppend of package
// wire: why frames on the path of a hand-over are appended by hand.
func BenchmarkMessage(b *testing.B) {
	m := Message{Give: &Gathering{Name: "plan of fabric", Round: 3}}
	bytes := m.Bytes()
	b.Run("encode", func(b *testing.B) {
		for b.Loop() {
			m.Bytes()
		}
	})
	b.Run("decode", func(b *testing.B) {
		for b.Loop() {
			if _, err := Parse(bytes); err != nil {
				b.Fatal(err)
			}
		}
	})
}
