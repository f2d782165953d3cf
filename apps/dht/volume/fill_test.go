package volume_test

import (
	"context"
	"errors"
	"testing"

	"github.com/orwl/go-orwl/apps/dht/volume"
)

// TestFull fills a volume to its last cell, in one bucket and in many, and finds
// that the next element is refused, that nothing is lost, and that there is room
// again where something was deleted.
func TestFull(t *testing.T) {
	for _, discipline := range volume.Disciplines() {
		for _, how := range ways {
			for name, hash := range map[string]func(uint64) uint64{"one bucket": oneBucket, "many": nil} {
				t.Run(discipline+"/"+how+"/"+name, func(t *testing.T) {
					o := volume.Options{Discipline: discipline, Layout: volume.Layout{Buckets: 7, Heap: 40, Hash: hash}}
					fill(t, sides(t, 2, how, o))
				})
			}
		}
	}
}

func fill(t *testing.T, all []volume.Side) {
	ctx := context.Background()
	var refused *volume.FullError
	inside := map[uint64]uint64{}
	for k := uint64(0); refused == nil; k++ {
		_, err := all[k%2].Insert(ctx, k, ^k)
		if err == nil {
			inside[k] = ^k
		} else if !errors.As(err, &refused) || !errors.Is(err, volume.ErrFull) {
			t.Fatal(err)
		}
	}
	layout := all[0].Layout()
	if refused.Buckets != layout.Buckets || refused.Heap != layout.Heap || refused.Key != uint64(len(inside)) {
		t.Errorf("the error tells %+v", refused)
	}
	if least := layout.Heap + 1; len(inside) < least {
		t.Fatalf("%d elements fill the volume, want at least %d", len(inside), least)
	}
	checkAll(t, all[1], inside)
	refuse(t, all[0], refused.Key)
	checkAll(t, all[1], inside)

	// The last element of a long chain goes; there is room for it, and of a volume
	// with a lock for any other.
	last := refused.Key - 1
	if found, err := all[1].Delete(ctx, last); err != nil || !found {
		t.Fatalf("Delete of the last element is %v, %v", found, err)
	}
	delete(inside, last)
	checkAll(t, all[0], inside)
	again := last
	if _, err := all[0].Snapshot(ctx); err == nil {
		again = refused.Key
	}
	if inserted, err := all[0].Insert(ctx, again, 5); err != nil || !inserted {
		t.Fatalf("Insert into the cell that was given back is %v, %v", inserted, err)
	}
	inside[again] = 5
	checkAll(t, all[1], inside)
}

// refuse lets every way of adding an element fail.
func refuse(t *testing.T, s volume.Side, key uint64) {
	ctx := context.Background()
	_, insert := s.Insert(ctx, key, 1)
	_, set := s.Set(ctx, key, 1)
	_, add := s.Add(ctx, key, 1)
	ops := []volume.Op{{Kind: volume.Get, Key: 0}, {Kind: volume.Set, Key: key, Value: 1}, {Kind: volume.Get, Key: 0}}
	if err := s.Do(ctx, ops); err != nil || !ops[2].Found {
		t.Errorf("a batch with an element too many: %v, %+v", err, ops)
	}
	for i, err := range []error{insert, set, add, s.InsertNew(ctx, key, 1), ops[1].Err} {
		if !errors.Is(err, volume.ErrFull) {
			t.Errorf("way %d: %v, want ErrFull", i, err)
		}
	}
}

func checkAll(t *testing.T, s volume.Side, want map[uint64]uint64) {
	t.Helper()
	ctx := context.Background()
	for k, v := range want {
		if got, found, err := s.Get(ctx, k); err != nil || !found || got != v {
			t.Fatalf("Get(%d) is %d, %v, %v, want %d", k, got, found, err, v)
		}
	}
	if n, err := s.Len(ctx); err != nil || n != len(want) {
		t.Fatalf("Len is %d, %v, want %d", n, err, len(want))
	}
}

// TestChurn puts elements into one bucket and deletes them from all places of its
// chain, many times as often as there are cells.
func TestChurn(t *testing.T) {
	for _, how := range ways {
		t.Run(how, func(t *testing.T) {
			s := sides(t, 1, how, volume.Options{Layout: volume.Layout{Buckets: 1, Heap: 9}})[0]
			ctx := context.Background()
			for round := range uint64(50) {
				for k := range uint64(10) {
					if err := s.InsertNew(ctx, round<<8|k, k); err != nil {
						t.Fatal(err)
					}
				}
				for k := range uint64(10) {
					if found, err := s.Delete(ctx, round<<8|(k*7+round)%10); err != nil || !found {
						t.Fatal(found, err)
					}
				}
			}
			checkAll(t, s, nil)
		})
	}
}
