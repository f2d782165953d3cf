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
		{volume.Options{Layout: fine, Lock: locks.Options{Home: 1}}, "Lock.Home is 1"},
		{volume.Options{Layout: fine, Lock: locks.Options{TDC: -1}}, "TDC"},
		{volume.Options{Layout: fine, Discipline: volume.AtomicsOnly, Growable: true}, "Growable"},
	} {
		if _, err := volume.New(f, c.o); err == nil || !strings.Contains(err.Error(), c.names) {
			t.Errorf("%+v: %v, want %s", c.o, err, c.names)
		}
	}
	if _, err := volume.Open(make([]uint64, 3), fine); err == nil || !strings.Contains(err.Error(), "3 words, want ") {
		t.Errorf("too few words: %v", err)
	}
}

// TestResizeErrors asks for resizes that cannot be had: nothing changes.
func TestResizeErrors(t *testing.T) {
	ctx := context.Background()
	growable := sides(t, 2, directly, volume.Options{Growable: true, Layout: volume.Layout{Buckets: 4, Heap: 4}})
	for k := range uint64(4) {
		if _, err := growable[1].Set(ctx, k, k); err != nil {
			t.Fatal(err)
		}
	}
	fixed := sides(t, 1, directly, volume.Options{Layout: volume.Layout{Buckets: 4}})[0]
	free := sides(t, 1, directly, volume.Options{Discipline: volume.AtomicsOnly, Layout: volume.Layout{Buckets: 4}})[0]
	for _, c := range []struct {
		what string
		err  error
		want error
	}{
		{"by another rank", growable[1].Resize(ctx, 8, 8), volume.ErrNotOwner},
		{"to too little", growable[0].Resize(ctx, 1, 2), volume.ErrFull},
		{"of a fixed one", fixed.Resize(ctx, 8, 8), volume.ErrFixed},
		{"without a lock", free.Resize(ctx, 8, 8), volume.ErrNoLock},
	} {
		if !errors.Is(c.err, c.want) {
			t.Errorf("resize %s: %v, want %v", c.what, c.err, c.want)
		}
	}
	if err := growable[0].Resize(ctx, 0, 8); err == nil || !strings.Contains(err.Error(), "Buckets is 0") {
		t.Errorf("resize to nothing: %v", err)
	}
	if _, err := free.Snapshot(ctx); !errors.Is(err, volume.ErrNoLock) {
		t.Errorf("snapshot without a lock: %v", err)
	}
	if err := free.Clear(ctx); !errors.Is(err, volume.ErrNoLock) {
		t.Errorf("clear without a lock: %v", err)
	}
	checkAll(t, growable[1], map[uint64]uint64{0: 0, 1: 1, 2: 2, 3: 3})
	if err := growable[0].Resize(ctx, 8, 8); err != nil {
		t.Fatal(err)
	}
	if got := growable[1].Layout().Buckets; got != 4 {
		t.Errorf("a rank that did not look again has %d buckets, want 4", got)
	}
	checkAll(t, growable[1], map[uint64]uint64{0: 0, 1: 1, 2: 2, 3: 3})
	if got := growable[1].Layout().Buckets; got != 8 {
		t.Errorf("a rank that has looked again has %d buckets, want 8", got)
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
	refusal(t, f, volume.Options{Layout: volume.Layout{Buckets: 1 << 20}}, rma.ErrNoSpace)
}

// TestFill has an owner whose first elements do not fit.
func TestFill(t *testing.T) {
	f, err := mem.New(mem.Options{Topology: topology.Flat(2)})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	refusal(t, f, volume.Options{Layout: volume.Layout{Buckets: 1}, Fill: func(t *volume.Table) error {
		return errors.Join(t.InsertNew(1, 1), t.InsertNew(2, 2))
	}}, volume.ErrFull)
}

func refusal(t *testing.T, f rma.Fabric, o volume.Options, want error) {
	t.Helper()
	v, err := volume.New(f, o)
	if err != nil {
		t.Fatal(err)
	}
	for p, want := range []error{want, volume.ErrRefused} {
		w, err := f.Window(rma.Rank(p))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := v.At(context.Background(), w); !errors.Is(err, want) {
			t.Errorf("rank %d: %v, want %v", p, err, want)
		}
	}
}
