package volume_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/orwl/go-orwl/apps/dht/volume"
	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/net/mem"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/shm"
	"github.com/orwl/go-orwl/net/topology"
)

// TestOptions gives options that make no sense: the error names the field.
func TestOptions(t *testing.T) {
	f, _ := windows(t, 2)
	fine := volume.Layout{Buckets: 1}
	for _, c := range []struct {
		o     volume.Options
		names string
	}{
		{volume.Options{}, "Buckets is 0, want 1 to"},
		{volume.Options{Layout: volume.Layout{Buckets: volume.MaxCells + 1}}, "Buckets"},
		{volume.Options{Layout: volume.Layout{Buckets: 1, Heap: -1}}, "Heap is -1, want 0 to"},
		{volume.Options{Layout: volume.Layout{Buckets: 2, Heap: volume.MaxCells - 1}}, "Heap"},
		{volume.Options{Layout: fine, Owner: 2}, "Owner is 2, want a rank, 0..1"},
		{volume.Options{Layout: fine, Owner: -1}, "Owner is -1"},
		{volume.Options{Layout: fine, Discipline: "MCS"}, "RMA-RW"},
		{volume.Options{Layout: fine}, "RMA-RW"},
		{volume.Options{Layout: fine, Discipline: "RMA-RW", Lock: locks.Options{TDC: -1}}, "TDC"},
	} {
		if _, err := volume.New(f, c.o); err == nil || !strings.Contains(err.Error(), c.names) {
			t.Errorf("%+v: %v, want %s", c.o, err, c.names)
		}
	}
}

// TestRefused has an owner without memory: its error says so, and the others do not
// wait for ever.
func TestRefused(t *testing.T) {
	f, err := shm.Create(shm.Options{Topology: topology.Flat(2), DynamicWords: 1 << 10})
	if errors.Is(err, errors.ErrUnsupported) {
		t.Skip("it takes a fabric whose memory is bounded, shm's: ", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	refusal(t, f, volume.Options{Discipline: volume.AtomicsOnly, Layout: volume.Layout{Buckets: 1 << 20}}, rma.ErrNoSpace)
}

// TestFill has an owner whose first elements do not fit.
func TestFill(t *testing.T) {
	f, err := mem.New(mem.Options{Topology: topology.Flat(2)})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	refusal(t, f, volume.Options{Discipline: volume.AtomicsOnly, Layout: volume.Layout{Buckets: 1}, Fill: func(t *volume.Table) error {
		return errors.Join(t.InsertNew(1, 1), t.InsertNew(2, 2))
	}}, volume.ErrFull)
}

func refusal(t *testing.T, f rma.Fabric, o volume.Options, want error) {
	t.Helper()
	v, err := volume.New(f, o)
	if err != nil {
		t.Fatal(err)
	}
	for p := range rma.Rank(2) {
		w, err := f.Window(p)
		if err != nil {
			t.Fatal(err)
		}
		_, err = v.At(context.Background(), w)
		if p == o.Owner && !errors.Is(err, want) {
			t.Errorf("the owner: %v, want %v", err, want)
		}
		if p != o.Owner && (err == nil || !strings.Contains(err.Error(), "the owner's own error")) {
			t.Errorf("rank %d: %v", p, err)
		}
	}
}

// TestMixIsABijection checks it by its inverse: no two keys mix to the same.
func TestMixIsABijection(t *testing.T) {
	unshift := func(v uint64, by uint) uint64 {
		for r := v; ; {
			next := v ^ r>>by
			if next == r {
				return r
			}
			r = next
		}
	}
	inverse := func(odd uint64) uint64 { // by Newton's method, modulo 2^64
		x := odd
		for range 6 {
			x *= 2 - odd*x
		}
		return x
	}
	for _, key := range []uint64{0, 1, 2, 1 << 63, ^uint64(0), 0x0123456789abcdef} {
		v := unshift(volume.Mix(key), 31) * inverse(0x94d049bb133111eb)
		v = unshift(v, 27) * inverse(0xbf58476d1ce4e5b9)
		if v = unshift(v, 30); v != key {
			t.Errorf("Mix(%#x) goes back to %#x", key, v)
		}
	}
}
