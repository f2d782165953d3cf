package volume_test

import (
	"context"
	"errors"
	"maps"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/orwl/go-orwl/apps/dht/volume"
	"github.com/orwl/go-orwl/internal/rings"
)

func init() { rings.FewChecks() }

// TestModel plays random operations by random ranks of a volume beside a Go map:
// every discipline, with words reached directly and by operations, in many
// buckets and in one, with room and without.
func TestModel(t *testing.T) {
	for _, discipline := range volume.Disciplines() {
		for _, how := range ways {
			t.Run(discipline+"/"+how, func(t *testing.T) {
				rapid.Check(t, func(rt *rapid.T) { playModel(t, rt, discipline, how) })
			})
		}
	}
}

// model is a volume and what it should hold.
type model struct {
	*rapid.T
	ctx    context.Context
	all    []volume.Side
	want   map[uint64]uint64
	growth bool // the volume has a lock, and can grow
}

func playModel(t *testing.T, rt *rapid.T, discipline, how string) {
	const ranks = 3
	o := volume.Options{Discipline: discipline, Layout: volume.Layout{
		Buckets: rapid.IntRange(1, 8).Draw(rt, "buckets"), Heap: rapid.IntRange(0, 16).Draw(rt, "heap")}}
	if rapid.Bool().Draw(rt, "collide") {
		o.Hash = oneBucket
	}
	m := &model{T: rt, ctx: context.Background(), want: map[uint64]uint64{}}
	m.growth = discipline != volume.AtomicsOnly && discipline != volume.AtomicsAndGets
	m.growth = m.growth && !strings.HasPrefix(discipline, "R-") // these do not grow
	o.Growable = m.growth
	m.all = sides(t, ranks, how, o)
	actions := map[string]func(*rapid.T){
		"get": m.get, "insert": m.insert, "new": m.insertNew, "set": m.set, "delete": m.delete,
		"add": m.add, "compare": m.compareAndSet, "batch": m.batch, "": m.check,
	}
	if m.growth {
		actions["resize"], actions["snapshot"], actions["clear"] = m.resize, m.snapshot, m.clear
	}
	rt.Repeat(actions)
}

func (m *model) side() volume.Side { return rapid.SampledFrom(m.all).Draw(m.T, "rank") }

// Few keys, so that they meet, and the ones that could be taken for something
// else.
func key(t *rapid.T) uint64 {
	return rapid.OneOf(rapid.Uint64Range(0, 20), rapid.Just(^uint64(0))).Draw(t, "key")
}

func value(t *rapid.T) uint64 {
	return rapid.OneOf(rapid.Uint64Range(0, 5), rapid.Just(^uint64(0)), rapid.Uint64()).Draw(t, "value")
}

// room reports whether an element that was not there was let in, and complains
// about an error that is not of a volume without room.
func (m *model) room(key uint64, err error) bool {
	if err == nil {
		return true
	}
	var full *volume.FullError
	if !errors.As(err, &full) || !errors.Is(err, volume.ErrFull) || full.Key != key {
		m.Fatalf("key %d: %v", key, err)
	}
	if _, there := m.want[key]; there {
		m.Fatalf("no room for key %d, which is there", key)
	}
	return false
}

func (m *model) get(t *rapid.T) {
	k := key(t)
	got, found, err := m.side().Get(m.ctx, k)
	want, there := m.want[k]
	if err != nil || found != there || got != want {
		t.Fatalf("Get(%d) is %d, %v, %v, want %d, %v", k, got, found, err, want, there)
	}
}

func (m *model) insert(t *rapid.T) {
	k, v := key(t), value(t)
	inserted, err := m.side().Insert(m.ctx, k, v)
	if _, there := m.want[k]; m.room(k, err) {
		if inserted == there {
			t.Fatalf("Insert(%d) is %v, want %v", k, inserted, !there)
		}
		if inserted {
			m.want[k] = v
		}
	}
}

func (m *model) insertNew(t *rapid.T) {
	k, v := key(t), value(t)
	if _, there := m.want[k]; there {
		return
	}
	// Without a lock a deleted key keeps its cell, so that it is not new.
	if !m.growth {
		k = uint64(len(m.want)) + rapid.Uint64Range(100, 1<<62).Draw(t, "new key")
		if _, there := m.want[k]; there {
			return
		}
	}
	if m.room(k, m.side().InsertNew(m.ctx, k, v)) {
		m.want[k] = v
	}
}

func (m *model) set(t *rapid.T) {
	k, v := key(t), value(t)
	found, err := m.side().Set(m.ctx, k, v)
	if _, there := m.want[k]; m.room(k, err) {
		if found != there {
			t.Fatalf("Set(%d) is %v, want %v", k, found, there)
		}
		m.want[k] = v
	}
}

func (m *model) delete(t *rapid.T) {
	k := key(t)
	found, err := m.side().Delete(m.ctx, k)
	if _, there := m.want[k]; err != nil || found != there {
		t.Fatalf("Delete(%d) is %v, %v, want %v", k, found, err, there)
	}
	delete(m.want, k)
}

func (m *model) add(t *rapid.T) {
	k, delta := key(t), value(t)
	sum, err := m.side().Add(m.ctx, k, delta)
	if m.room(k, err) {
		if m.want[k] += delta; sum != m.want[k] {
			t.Fatalf("Add(%d, %d) is %d, want %d", k, delta, sum, m.want[k])
		}
	}
}

func (m *model) compareAndSet(t *rapid.T) {
	k, old, v := key(t), value(t), value(t)
	swapped, found, err := m.side().CompareAndSet(m.ctx, k, old, v)
	now, there := m.want[k]
	if err != nil || found != there || swapped != (there && now == old) {
		t.Fatalf("CompareAndSet(%d, %d) of %d, %v is %v, %v, %v", k, old, now, there, swapped, found, err)
	}
	if swapped {
		m.want[k] = v
	}
}

// batch compares a batch with the same operations on the map.
func (m *model) batch(t *rapid.T) {
	ops := make([]volume.Op, rapid.IntRange(0, 6).Draw(t, "operations"))
	for i := range ops {
		ops[i] = volume.Op{Kind: volume.Kind(rapid.IntRange(1, 6).Draw(t, "kind")), Key: key(t), Value: value(t), Old: value(t)}
	}
	given := append([]volume.Op(nil), ops...)
	if err := m.side().Do(m.ctx, ops); err != nil {
		t.Fatal(err)
	}
	for i, o := range given {
		got := ops[i]
		if !m.room(o.Key, got.Err) {
			continue
		}
		now, there := m.want[o.Key]
		want := o
		want.Found = there
		switch o.Kind {
		case volume.Get:
			want.Value = now
		case volume.Insert:
			if !there {
				m.want[o.Key] = o.Value
			}
		case volume.Set:
			m.want[o.Key] = o.Value
		case volume.Delete:
			delete(m.want, o.Key)
		case volume.Add:
			want.Value += now
			m.want[o.Key] = want.Value
		case volume.CompareAndSet:
			if want.Swapped = there && now == o.Old; want.Swapped {
				m.want[o.Key] = o.Value
			}
		}
		if got != want {
			t.Fatalf("operation %d of a batch: %+v, want %+v", i, got, want)
		}
	}
}

// resize makes the volume larger, or, if all fits, smaller.
func (m *model) resize(t *rapid.T) {
	err := m.all[0].Resize(m.ctx, rapid.IntRange(1, 16).Draw(t, "buckets"), rapid.IntRange(0, 20).Draw(t, "heap"))
	if err != nil && !errors.Is(err, volume.ErrFull) {
		t.Fatal(err)
	}
}

func (m *model) snapshot(t *rapid.T) {
	all, err := m.side().Snapshot(m.ctx)
	if err != nil || len(all) != len(m.want) {
		t.Fatalf("a snapshot has %d elements, want %d: %v", len(all), len(m.want), err)
	}
	for _, e := range all {
		if v, there := m.want[e.Key]; !there || v != e.Value {
			t.Fatalf("a snapshot has %v, want %d, %v", e, v, there)
		}
	}
}

func (m *model) clear(t *rapid.T) {
	if err := m.side().Clear(m.ctx); err != nil {
		t.Fatal(err)
	}
	clear(m.want)
}

// check compares everything.
func (m *model) check(t *rapid.T) {
	s := m.side()
	n, err := s.Len(m.ctx)
	got := map[uint64]uint64{}
	if err == nil {
		err = s.Each(m.ctx, func(k, v uint64) bool { got[k] = v; return true })
	}
	if err != nil || n != len(m.want) || !maps.Equal(got, m.want) {
		t.Fatalf("the volume has %d elements %v, %v, want %v", n, got, err, m.want)
	}
}
