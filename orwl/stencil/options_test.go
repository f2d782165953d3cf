package stencil

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/orwl/go-orwl/orwl"
)

// Wrong options are named, and nothing is declared.
func TestRefuses(t *testing.T) {
	one := Options{Size: Size{9}}
	for want, x := range map[string]struct {
		o Options
		f FieldOptions[float64]
	}{
		"Size is [], want 1 to 3 dimensions":                                  {o: Options{}},
		"Size is [4 0], want 1 or more cells in each dimension":               {o: Options{Size: Size{4, 0}}},
		"Update is 2, want Jacobi or InPlace":                                 {o: Options{Size: Size{9}, Update: 2}},
		"Blocks is [3 1], want the 1 dimensions of Size":                      {o: Options{Size: Size{9}, Blocks: Size{3, 1}}},
		"Blocks is [10], want 1 to 9 in dimension 0, which has so many cells": {o: Options{Size: Size{9}, Blocks: Size{10}}},
		"Sweeps is -1, want 1 or more, or 0":                                  {o: Options{Size: Size{9}, Sweeps: -1}},
		"Clock is nil, want a clock with Observe or Live":                     {o: Options{Size: Size{9}, Live: true}},
		"Halo is [[1 -1]], want no negative width":                            {o: one, f: FieldOptions[float64]{Halo: [][2]int{{1, -1}}}},
		"Halo is [[1 1] [1 1]], want 1 pair or 1":                             {o: one, f: FieldOptions[float64]{Halo: [][2]int{{1, 1}, {1, 1}}}},
		"Blocks is [3], so one has 3 cells in dimension 0: want at least 4 for 4 sweeps between exchanges": {
			o: Options{Size: Size{9}, Blocks: Size{3}, Sweeps: 4}, f: FieldOptions[float64]{Halo: Around(1)},
		},
		"Blocks is [1 2], want 1 in dimension 1 with InPlace and Corners: the block before would change cells that this one still reads": {
			o: Options{Size: Size{4, 4}, Blocks: Size{1, 2}, Update: InPlace, Corners: true},
		},
	} {
		rt, err := orwl.New(orwl.Options{})
		if err != nil {
			t.Fatal(err)
		}
		g := New(rt, x.o)
		NewField(g, "u", x.f)
		err = g.Sweep(1, func(*Block) {})
		if !errors.Is(err, ErrOptions) {
			t.Errorf("%s: %v", want, err)
			continue
		}
		first := err
		if joined, ok := err.(interface{ Unwrap() []error }); ok {
			first = joined.Unwrap()[0]
		}
		for _, prefix := range []string{ErrOptions.Error() + `: grid "grid": `, `field "u": `} {
			if text := first.Error(); len(text) > len(prefix) && text[:len(prefix)] == prefix {
				first = errors.New(text[len(prefix):])
			}
		}
		if first.Error() != want {
			t.Errorf("got  %v\nwant %s", first, want)
		}
	}
}

// A grid is swept once.
func TestSweptOnce(t *testing.T) {
	rt, err := orwl.New(orwl.Options{})
	if err != nil {
		t.Fatal(err)
	}
	g := New(rt, Options{Size: Size{3}})
	NewField(g, "u", FieldOptions[float64]{})
	for _, want := range []error{nil, errSwept} {
		if err := g.Sweep(1, func(*Block) {}); !errors.Is(err, want) {
			t.Errorf("got %v, want %v", err, want)
		}
	}
}

// A kernel that reads farther than the halo ends the run, which says how far.
func TestKernelReadsTooFar(t *testing.T) {
	for _, x := range []struct {
		away []int
		want string
	}{
		{[]int{-1, 0}, ""},
		{[]int{0, 2}, ""},
		{[]int{-2, 0}, `reads field "u" at [-2 0] cells away, and its Halo is 1 low and 0 high in dimension 0`},
		{[]int{1, 0}, `reads field "u" at [1 0] cells away, and its Halo is 1 low and 0 high in dimension 0`},
		{[]int{0, 3}, `reads field "u" at [0 3] cells away, and its Halo is 0 low and 2 high in dimension 1`},
		{[]int{0, -1}, `reads field "u" at [0 -1] cells away, and its Halo is 0 low and 2 high in dimension 1`},
		{[]int{1}, `of field "u" is given 1 distances in a grid of 2 dimensions`},
	} {
		for name, read := range map[string]func(*Field[float64], *Block){
			"rows": func(u *Field[float64], b *Block) {
				for r := range b.Rows() {
					copy(u.New(r), u.Old(r, x.away...))
				}
			},
			"weights": func(u *Field[float64], b *Block) { Apply(b, u, u, 0, []Weight{{At: x.away}}) },
		} {
			rt, err := orwl.New(orwl.Options{})
			if err != nil {
				t.Fatal(err)
			}
			g := New(rt, Options{Size: Size{4, 4}, Corners: true})
			u := NewField(g, "u", FieldOptions[float64]{Halo: [][2]int{{1, 0}, {0, 2}}})
			if err := g.Sweep(1, func(b *Block) { read(u, b) }); err != nil {
				t.Fatal(err)
			}
			err = rt.Run(t.Context())
			if got := fmt.Sprint(err); (err == nil) != (x.want == "") || !strings.Contains(got, x.want) {
				t.Errorf("%s, %v: got %s, want %q", name, x.away, got, x.want)
			}
		}
	}
}
