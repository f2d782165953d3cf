package handle

import (
	"bytes"
	"errors"
	"testing"

	"github.com/orwl/go-orwl/resource"
)

// file is a .npy file with data as its elements.
func file(t *testing.T, data string) []byte {
	t.Helper()
	var b bytes.Buffer
	fine(t, resource.WriteArray(&b, resource.Array{DType: "|u1", Shape: []int{len(data)}}, []byte(data)))
	return b.Bytes()
}

// Export returns arrays of any length that Import has padded with zeroes.
func TestExportAndImport(t *testing.T) {
	r := newResource(t, 24)
	h := holder(t, r)
	for _, data := range []string{"", "0", "0123456", "01234567", "012345678", "0123456789abcdef!"} {
		b, err := h.Place().Writable()
		fine(t, err)
		for i := range b {
			b[i] = 0xff
		}
		in := file(t, data)
		a, err := Import(bytes.NewReader(in), h, 100)
		fine(t, err)
		b, err = h.Place().Bytes()
		fine(t, err)
		if want := data + string(make([]byte, pad(len(data))-len(data))); string(b) != want {
			t.Errorf("imported %q, want %q", b, want)
		}
		var out bytes.Buffer
		fine(t, Export(&out, h, a))
		if !bytes.Equal(out.Bytes(), in) {
			t.Errorf("exported %q, want %q", out.Bytes(), in)
		}
	}
	// Export refuses an array whose size is not the resource's.
	fine(t, h.Resize(16))
	for _, n := range []int{0, 8, 17} {
		var out bytes.Buffer
		if err := Export(&out, h, resource.Array{DType: "|u1", Shape: []int{n}}); err == nil || out.Len() != 0 {
			t.Errorf("exported %d bytes of 16: %v", n, err)
		}
	}
	if err := Export(new(bytes.Buffer), h, resource.Array{DType: "no type", Shape: []int{16}}); err == nil {
		t.Error("exported elements without a type")
	}
}

// A failed import changes nothing.
func TestImportFails(t *testing.T) {
	r := newResource(t, 8)
	good := file(t, "0123456789")
	var h Handle
	for name, c := range map[string]struct {
		mode  resource.Mode
		holds bool
		file  []byte
		limit int64
		want  error
	}{
		"not held":        {resource.Write, false, good, 100, resource.ErrNotHeld},
		"held to read":    {resource.Read, true, good, 100, resource.ErrReadOnly},
		"a bad file":      {resource.Write, true, good[1:], 100, nil},
		"half a file":     {resource.Write, true, good[:len(good)-1], 100, nil},
		"a file too long": {resource.Write, true, good, 9, nil},
	} {
		t.Run(name, func(t *testing.T) {
			fine(t, h.Request(r, c.mode))
			if c.holds {
				fine(t, h.Acquire(t.Context()))
			}
			if _, err := Import(bytes.NewReader(c.file), &h, c.limit); err == nil || c.want != nil && !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
			if !c.holds {
				fine(t, h.Acquire(t.Context()))
			}
			if b, err := h.Place().Bytes(); err != nil || string(b) != "\x00\x00\x00\x00\x00\x00\x00\x00" {
				t.Errorf("the bytes are %q, %v", b, err)
			}
			fine(t, h.Release())
			fine(t, h.Request(r, resource.Read))
			fine(t, h.Acquire(t.Context()))
			if h.Version() != 0 {
				t.Errorf("version %d, though nothing was written", h.Version())
			}
			fine(t, h.Release())
		})
	}
	if err := Export(new(bytes.Buffer), &h, resource.Array{DType: "|u1", Shape: []int{8}}); !errors.Is(err, resource.ErrNotHeld) {
		t.Errorf("exported without holding: %v", err)
	}
}
