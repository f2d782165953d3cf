package volume_test

import (
	"maps"
	"testing"

	"github.com/orwl/go-orwl/apps/dht/volume"
)

// TestTable uses a table over a slice. Another table over the same words finds what was put in,
// bucket by bucket and altogether, and after a move.
func TestTable(t *testing.T) {
	layout := volume.Layout{Buckets: 5, Heap: 40}
	words := make([]uint64, layout.Words())
	open := func(words []uint64, l volume.Layout) *volume.Table {
		t.Helper()
		table, err := volume.Open(words, l)
		if err != nil {
			t.Fatal(err)
		}
		return table
	}
	first := open(words, layout)
	want := map[uint64]uint64{}
	for k := range uint64(30) {
		if _, err := first.Set(k, k*k); err != nil {
			t.Fatal(err)
		}
		want[k] = k * k
	}
	again := open(words, layout)
	if got := maps.Collect(again.All()); !maps.Equal(got, want) || again.Len() != len(want) {
		t.Errorf("opened again it has %v", got)
	}
	for range again.All() {
		break // which is allowed
	}
	larger := volume.Layout{Buckets: 64, Heap: 20}
	other := open(make([]uint64, larger.Words()), larger)
	if err := again.MoveTo(other); err != nil {
		t.Fatal(err)
	}
	if got := maps.Collect(other.All()); !maps.Equal(got, want) || other.Len() != len(want) {
		t.Errorf("moved it has %v", got)
	}
	again.Clear()
	if first.Len() != 0 || len(maps.Collect(first.All())) != 0 {
		t.Error("cleared it has something")
	}
	if _, found := other.Get(3); !found {
		t.Error("a table has lost an element to the clearing of another")
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
