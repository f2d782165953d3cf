package volume_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"

	"github.com/orwl/go-orwl/apps/dht/volume"
	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/net/mem"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/topology"
)

var deaths = rings.Seeds("volume.deaths", 40, 3000, "TestDiesAtAnyStore: operations that are cut short at each of their stores")

// dying is a window that dies before one of its stores to the elements. It stores the words of a cell in
// the order of memory.setCell.
type dying struct {
	rma.Survivor
	left int // stores that it still makes
}

// dead is the value of the panic in which a rank dies.
type dead struct{}

func (d *dying) spend(disp rma.Disp) {
	if !disp.IsDynamic() {
		return // the lock's
	}
	if d.left--; d.left < 0 {
		panic(dead{})
	}
}

func (d *dying) Put(target rma.Rank, disp rma.Disp, v uint64) {
	d.spend(disp)
	d.Survivor.Put(target, disp, v)
}

func (d *dying) Accumulate(target rma.Rank, disp rma.Disp, op rma.Op, v uint64) {
	d.spend(disp)
	d.Survivor.Accumulate(target, disp, op, v)
}

func (d *dying) PutBytes(target rma.Rank, disp rma.Disp, src []byte) {
	for _, i := range []int{1, 2, 3, 0} { // key, value, next, state
		d.Put(target, disp+rma.Disp(i), binary.NativeEndian.Uint64(src[8*i:]))
	}
}

// TestDiesAtAnyStore lets a rank die before each store of an operation on a random table. The next
// rank finds the operation done or not done, and a table in order.
func TestDiesAtAnyStore(t *testing.T) {
	rings.Computes(t)
	t.Parallel()
	for seed := range deaths.All() {
		for left := 0; ; left++ {
			over, err := dieAt(seed, left)
			if err != nil {
				t.Fatalf("seed %d, after %d stores: %v", seed, left, err)
			}
			if over {
				break
			}
		}
	}
}

// dieAt plays the operation of a seed until so many stores, and reports whether that was all of it.
func dieAt(seed uint64, left int) (over bool, err error) {
	const keys, lost = 10, 1
	ctx := context.Background()
	rng := rand.New(rand.NewPCG(seed, 3))
	f, err := mem.New(mem.Options{Topology: topology.Flat(3), Survive: true})
	if err != nil {
		return false, err
	}
	defer f.Close()
	buckets := 1 + rng.IntN(3)
	v, err := volume.New(f, volume.Options{Discipline: "R-RMA-RW", Layout: volume.Layout{
		Buckets: buckets, Heap: keys - buckets, Hash: func(key uint64) uint64 { return key << 62 }}})
	if err != nil {
		return false, err
	}
	var all [3]volume.Side
	var victim *dying
	for p := range all {
		w, err := f.Window(rma.Rank(p))
		if err != nil {
			return false, err
		}
		if p == lost {
			victim = &dying{w.(rma.Survivor), 1 << 30}
			w = victim
		}
		if all[p], err = v.At(ctx, w); err != nil {
			return false, err
		}
	}
	want := map[uint64]uint64{}
	change := func(s volume.Side) error {
		key, value := rng.Uint64N(keys), rng.Uint64()
		if rng.IntN(5) < 2 {
			delete(want, key)
			_, err := s.Delete(ctx, key)
			return err
		}
		want[key] = value
		_, err := s.Set(ctx, key, value)
		return err
	}
	for range rng.IntN(40) {
		if err := change(all[2]); err != nil {
			return false, err
		}
	}
	before := maps.Clone(want)
	victim.left = left
	if over, err = ends(func() error { return change(all[lost]) }); err != nil {
		return false, err
	}
	f.Lose(lost, "the test says so")
	got, err := contents(ctx, all[rng.IntN(2)*2])
	if err != nil || !maps.Equal(got, want) && (over || !maps.Equal(got, before)) {
		return false, fmt.Errorf("the table has %v, %v; want %v or %v", got, err, before, want)
	}
	want = got
	for n := range rng.IntN(30) {
		if err := change(all[2*(n%2)]); err != nil {
			return false, err
		}
	}
	for key := range uint64(keys) { // there is room for all, and for no other one
		if _, there := want[key]; !there {
			if err := all[0].InsertNew(ctx, key, key); err != nil {
				return false, err
			}
			want[key] = key
		}
	}
	if err := all[0].InsertNew(ctx, keys, 0); !errors.Is(err, volume.ErrFull) {
		return false, fmt.Errorf("a key without room: %v", err)
	}
	if got, err = contents(ctx, all[2]); err != nil || !maps.Equal(got, want) {
		return false, fmt.Errorf("after some changes the table has %v, %v; want %v", got, err, want)
	}
	return over, nil
}

// ends reports whether do comes to its end, and does not die.
func ends(do func() error) (whole bool, err error) {
	defer func() {
		if v := recover(); v != nil && v != any(dead{}) {
			panic(v)
		}
	}()
	err = do()
	return true, err
}

// contents are a volume's elements, which it also counts.
func contents(ctx context.Context, s volume.Side) (map[uint64]uint64, error) {
	all, err := s.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	m := map[uint64]uint64{}
	for _, e := range all {
		m[e.Key] = e.Value
	}
	if n, err := s.Len(ctx); n != len(all) || len(m) != n || err != nil {
		return m, fmt.Errorf("%d elements, %d keys, and a count of %d, with %v", len(all), len(m), n, err)
	}
	return m, nil
}
