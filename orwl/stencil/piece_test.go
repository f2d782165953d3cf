package stencil

import (
	"context"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/orwl/go-orwl/orwl"
)

// declared is a grid of 3 x 3 blocks with a field that reads its four neighbours.
func declared(t *testing.T, o Options, sweeps int, kernel func(b *Block)) (*orwl.Runtime, *Grid, *Field[float64]) {
	t.Helper()
	rt, err := orwl.New(orwl.Options{})
	if err != nil {
		t.Fatal(err)
	}
	g := New(rt, o)
	u := NewField(g, "u", FieldOptions[float64]{Halo: Around(1), Initial: func(at []int) float64 { return float64(3*at[0] - at[1]) }})
	if kernel == nil {
		kernel = func(b *Block) { relax(u, b) }
	}
	if err := g.Sweep(sweeps, kernel); err != nil {
		t.Fatal(err)
	}
	return rt, g, u
}

func relax(u *Field[float64], b *Block) {
	for r := range b.Rows() {
		old, to := u.Old(r), u.New(r)
		north, west, east, south := u.Old(r, -1, 0), u.Old(r, 0, -1), u.Old(r, 0, 1), u.Old(r, 1, 0)
		for i := range to {
			to[i] = old[i]/2 + (north[i]+2*west[i]+3*east[i]+south[i])/14
		}
	}
}

// The block in the middle has neighbours on all sides. Its pieces are cut where its first rows are
// exported, and where it first needs the rows behind it.
func TestCuts(t *testing.T) {
	for _, c := range []struct {
		o    Options
		side int
		want []int
	}{
		{Options{Update: InPlace}, 16, []int{0, 16}}, // a small block
		{Options{Update: InPlace}, 100, []int{0, 25, 75, 100}},
		{Options{Update: InPlace, pieces: -1}, 100, []int{0, 100}},
		{Options{Update: InPlace, pieces: 1}, 16, []int{0, 1, 15, 16}},
		{Options{Update: InPlace, pieces: 15}, 16, []int{0, 15, 16}},
		{Options{Update: InPlace, pieces: 40}, 16, []int{0, 15, 16}}, // more rows than there are
		{Options{Update: InPlace, pieces: 4}, 12, []int{0, 4, 8, 12}},
		{Options{Update: InPlace}, 65, []int{0, 32, 65}},
		{Options{Update: InPlace}, 63, []int{0, 63}},
		{Options{Update: InPlace, pieces: 3, Sweeps: 4}, 16, []int{0, 4, 12, 16}},
		{Options{Update: InPlace, pieces: 1, Sweeps: 2}, 16, []int{0, 2, 14, 16}},
		{Options{Update: InPlace, pieces: 1, Exporters: true}, 16, []int{0, 15, 16}},
		{Options{pieces: 1}, 16, []int{0, 1, 15, 16}},
		{Options{pieces: 1, Sweeps: 3}, 16, []int{-2, 5, 15, 18}},
	} {
		c.o.Size, c.o.Blocks = Size{3 * c.side, 3 * c.side}, Size{3, 3}
		_, g, _ := declared(t, c.o, 1, nil)
		if got := g.tileAt(vec{0, 1, 1}).cuts(); !slices.Equal(got, c.want) {
			t.Errorf("%+v: cut at %v, want %v", c.o, got, c.want)
		}
	}
}

// A block in the south begins when the one to the north is in its second sweep, and ends its
// first sweep when that one has ended its second.
func TestPiecesOverlap(t *testing.T) {
	// The kernel waits, and keeps its worker meanwhile.
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(max(2, runtime.GOMAXPROCS(0))))
	began, ended := make(chan bool), make(chan bool)
	var calls [2]atomic.Int64
	var failed atomic.Bool
	wait := func(c chan bool) {
		select {
		case <-c:
		case <-time.After(time.Minute):
			failed.Store(true)
		}
	}
	// The northern block has a middle and last rows, the southern one first rows and a middle.
	o := Options{Update: InPlace, Size: Size{32, 8}, Blocks: Size{2, 1}, pieces: 4}
	rt, g, _ := declared(t, o, 2, func(b *Block) {
		switch n := calls[b.Number()].Add(1); {
		case b.Number() == 0 && n == 3:
			close(began)
		case b.Number() == 0 && n == 4:
			close(ended)
		case b.Number() == 1 && n == 2:
			wait(began)
			wait(ended)
		}
	})
	if err := rt.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if failed.Load() {
		t.Error("the blocks wait for each other's whole sweeps")
	}
	for n := range 2 {
		if got, want := calls[n].Load(), int64(2*g.tiles[n].pieces); got != want || g.tiles[n].pieces != 2 {
			t.Errorf("block %d: %d calls, want %d of 2 pieces", n, got, want)
		}
	}
}

// With exporters a block has nine tasks, also if its kernel reads no corners.
func TestNineTasks(t *testing.T) {
	o := Options{Update: InPlace, Size: Size{12, 12}, Blocks: Size{3, 3}, Exporters: true}
	rt, g, _ := declared(t, o, 5, nil)
	out := 0
	for d := range g.tiles[4].eachOut(0) {
		if g.tiles[4].out[0][d].layout.bytes == 0 {
			t.Errorf("nothing goes to %v", d.step())
		}
		out++
	}
	if out != 8 || g.tiles[4].pieces != 1 {
		t.Errorf("%d exporters and %d pieces, want 8 and 1", out, g.tiles[4].pieces)
	}
	if err := rt.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := g.Verify(t.Context()); err != nil {
		t.Error(err)
	}
}

// A field that no stage writes has its values everywhere, and gives up its memory after the last sweep.
func TestConstant(t *testing.T) {
	rt, err := orwl.New(orwl.Options{})
	if err != nil {
		t.Fatal(err)
	}
	g := New(rt, Options{Size: Size{6, 8}, Blocks: Size{2, 2}, pieces: 1})
	u := NewField(g, "u", FieldOptions[float64]{Halo: Around(1)})
	c := NewField(g, "c", FieldOptions[int64]{Halo: Around(1), Initial: func(at []int) int64 { return int64(100*at[0] + at[1]) }})
	var wrong atomic.Int64
	g.Stage(func(b *Block) {
		for r := range b.Rows() {
			if c.Old(r, 1, 0)[0] != int64(100*(r.At(0)+1)+r.At(1)) {
				wrong.Add(1)
			}
		}
	}, u)
	if err := g.Sweep(3); err != nil {
		t.Fatal(err)
	}
	if err := rt.Run(t.Context()); err != nil || wrong.Load() > 0 {
		t.Fatal(err, wrong.Load())
	}
	for _, tile := range g.tiles {
		if m := tile.block.memory[1].(*memory[int64]); m.cells[0] != nil || m.cells[1] != nil {
			t.Errorf("%s keeps its constants", tile.name)
		}
	}
	values, err := c.Values(context.Background())
	if err != nil || len(values) != 48 || values[47] != 507 {
		t.Errorf("%v, %v", values, err)
	}
	s, err := c.snapshot(context.Background())
	if err != nil || !slices.Equal(s.Cells, values) || s.First != 3 || s.Last != 3 {
		t.Errorf("%v, %v", s, err)
	}
}
