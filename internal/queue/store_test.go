package queue

import (
	"errors"
	"strings"
	"testing"
)

// fixed is memory that stays where it is, and ends.
type fixed struct {
	all   [64]byte
	bytes []byte
}

var errFixed = errors.New("no more than 64 bytes")

func (f *fixed) Bytes() []byte { return f.bytes }

func (f *fixed) Resize(size int) error {
	if size > len(f.all) {
		return errFixed
	}
	clear(f.all[min(size, len(f.bytes)):])
	f.bytes = f.all[:size]
	return nil
}

// TestMemoryOfOptions keeps the bytes where Options.Memory says, when they grow and shrink, and a growth that
// fails there changes nothing.
func TestMemoryOfOptions(t *testing.T) {
	f := new(fixed)
	h, _ := hinged(t, "RMA-RW", RelaxedOptions{})
	r, err := NewWith("r", 16, Options{
		Memory:  func(size int) (Store, error) { return f, f.Resize(size) },
		Relaxed: h.relaxed.RelaxedOptions,
	})
	if err != nil {
		t.Fatal(err)
	}
	in, err := r.Relaxed(t.Context(), Write)
	if err != nil {
		t.Fatal(err)
	}
	copy(in.Bytes(), "0123456789abcdef")
	if string(f.all[:16]) != "0123456789abcdef" {
		t.Errorf("the memory has %q", f.all[:16])
	}
	if b, err := in.Resize(32); err != nil || &b[0] != &f.all[0] || string(b) != "0123456789abcdef"+strings.Repeat("\x00", 16) {
		t.Errorf("grown to 32 bytes: %q, %v", b, err)
	}
	if _, err := in.Resize(72); !errors.Is(err, errFixed) || len(in.Bytes()) != 32 || r.Inspect().Size != 32 {
		t.Errorf("grown too far: %v, %d bytes", err, len(in.Bytes()))
	}
	if b, err := in.Resize(8); err != nil || string(b) != "01234567" {
		t.Errorf("shrunk to 8 bytes: %q, %v", b, err)
	}
	in.Leave()
	if b, _, err := r.Snapshot(t.Context(), nil); string(b) != "01234567" || err != nil {
		t.Errorf("a snapshot is %q, %v", b, err)
	}
}

// TestMemoryOfOptionsMisuse says what is wrong.
func TestMemoryOfOptionsMisuse(t *testing.T) {
	make := func(size int) func(int) (Store, error) {
		return func(int) (Store, error) { f := new(fixed); return f, f.Resize(size) }
	}
	for _, c := range []struct {
		o    Options
		want string
	}{
		{Options{Memory: make(72)}, "no more than 64 bytes"},
		{Options{Memory: make(8)}, "made 8 bytes, want 16"},
		{Options{Memory: make(16), FaultPages: new(FaultPages)}, "both set"},
	} {
		if _, err := NewWith("r", 16, c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("NewWith: %v, want %q", err, c.want)
		}
	}
}
