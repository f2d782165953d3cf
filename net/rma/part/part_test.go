package part_test

import (
	"errors"
	"testing"

	"github.com/orwl/go-orwl/net/mem"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/rma/part"
	"github.com/orwl/go-orwl/net/rmatest"
	"github.com/orwl/go-orwl/net/topology"
)

// every returns n ranks: every third one, from first on.
func every(n, first int) (ranks []rma.Rank) {
	for p := range n {
		ranks = append(ranks, rma.Rank(3*p+first))
	}
	return ranks
}

// A part keeps the contract of a window. Its ranks have other numbers than in the whole,
// and other ranks lie between them.
func TestConformance(t *testing.T) {
	rmatest.Run(t, func(t testing.TB, o rmatest.Options) rma.Fabric {
		n := o.Topology.Ranks()
		words := o.Words
		if words == 0 {
			words = mem.DefaultWords
		}
		whole, err := mem.New(mem.Options{Topology: topology.Flat(3 * n), Words: words, Context: o.Context})
		if err != nil {
			t.Fatal(err)
		}
		base, err := whole.Alloc(words)
		if err != nil {
			t.Fatal(err)
		}
		f, err := part.New(whole, part.Options{Topology: o.Topology, Ranks: every(n, 1), Base: base, Words: words})
		if err != nil {
			t.Fatal(err)
		}
		return f
	})
}

// Two parts have the same displacements, and different words behind them.
func TestPartsAreApart(t *testing.T) {
	whole, err := mem.New(mem.Options{Topology: topology.Flat(6), Words: 8})
	if err != nil {
		t.Fatal(err)
	}
	defer whole.Close()
	base, err := whole.Alloc(8)
	if err != nil {
		t.Fatal(err)
	}
	var windows [2]rma.Window
	for i := range windows {
		f, err := part.New(whole, part.Options{Topology: topology.Flat(2), Ranks: every(2, i), Base: base, Words: 8})
		if err != nil {
			t.Fatal(err)
		}
		at, err := f.Alloc(8)
		if err != nil || at != base {
			t.Fatalf("part %d has %v, %v, want %v", i, at, err, base)
		}
		if _, err := f.Alloc(1); !errors.Is(err, rma.ErrNoSpace) {
			t.Errorf("more than there is: %v", err)
		}
		if windows[i], err = f.Window(1); err != nil {
			t.Fatal(err)
		}
	}
	windows[0].Put(0, base, 7)
	windows[0].Flush(0)
	if a, b := windows[0].Get(0, base), windows[1].Get(0, base); a != 7 || b != 0 {
		t.Errorf("the words are %d and %d, want 7 and 0", a, b)
	}
}

func TestOptions(t *testing.T) {
	whole, err := mem.New(mem.Options{Topology: topology.Flat(3), Words: 8})
	if err != nil {
		t.Fatal(err)
	}
	defer whole.Close()
	for name, o := range map[string]part.Options{
		"no topology":   {Ranks: every(1, 0)},
		"too few ranks": {Topology: topology.Flat(2), Ranks: every(1, 0)},
		"a rank twice":  {Topology: topology.Flat(2), Ranks: []rma.Rank{1, 1}},
		"no such rank":  {Topology: topology.Flat(1), Ranks: []rma.Rank{3}},
		"words":         {Topology: topology.Flat(1), Ranks: every(1, 0), Words: -1},
	} {
		if _, err := part.New(whole, o); err == nil {
			t.Errorf("accepted: %s", name)
		}
	}
}
