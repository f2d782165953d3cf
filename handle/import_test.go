package handle_test

import (
	"bytes"
	"context"
	"testing"

	"github.com/orwl/go-orwl/handle"
	"github.com/orwl/go-orwl/resource"
)

// An import of all bytes comes to the home as a whole, even if the place has named other
// ranges.
func TestImportSendsAll(t *testing.T) {
	r, there, deliver := resourceOf(t, true)
	want := bytes.Repeat([]byte("01234567"), 8)
	for _, before := range []bool{true, false} {
		var h handle.Handle
		must(t, h.Request(r, resource.Write))
		deliver()
		must(t, h.Acquire(context.Background()))
		name := func() { must(t, h.Place().Dirty(resource.Range{Off: 8, Len: 2})) }
		if before {
			name()
		}
		var file bytes.Buffer
		must(t, resource.WriteArray(&file, resource.Array{DType: "|u1", Shape: []int{64}}, want))
		_, err := handle.Import(&file, &h, 64)
		must(t, err)
		if !before {
			name()
		}
		must(t, h.Release())
		deliver()
		var p resource.Place
		must(t, p.Request(there, resource.Write))
		must(t, p.Acquire(context.Background()))
		b, err := p.Writable()
		must(t, err)
		if !bytes.Equal(b, want) {
			t.Errorf("named before: %t: the home has %q, want %q", before, b, want)
		}
		clear(b)
		must(t, p.Release())
	}
}
