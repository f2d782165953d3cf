package stencil

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/orwl/go-orwl/orwl"
)

// A face was announced at 10, and the block began to wait for it when it was asked for.
func TestEarlyAndHidden(t *testing.T) {
	for _, c := range []struct {
		there, asked time.Duration
		want         Account
	}{
		{5, 40, Account{Imports: 1, Bytes: 16, Early: 1}}, // there before it was announced
		{25, 40, Account{Imports: 1, Bytes: 16, Early: 1, Hidden: 15}},
		{40, 40, Account{Imports: 1, Bytes: 16, Early: 1, Hidden: 30}},
		{50, 40, Account{Imports: 1, Bytes: 16, Hidden: 30}},
		{50, 10, Account{Imports: 1, Bytes: 16}}, // the block has done nothing meanwhile
	} {
		var got Account
		got.count(16, 10, c.there, c.asked)
		if got != c.want {
			t.Errorf("there at %d, asked for at %d: %+v, want %+v", c.there, c.asked, got, c.want)
		}
	}
}

// Each stage and each exporter tells all that it does, in order.
func TestChanges(t *testing.T) {
	const passes = 3
	for _, exporters := range []bool{false, true} {
		var mu sync.Mutex
		told := make(map[string][]Phase) // by task
		var ticks atomic.Int64
		watch := Watch{Clock: func() time.Duration { return time.Duration(ticks.Add(1)) }}
		o := Options{Size: Size{12}, Blocks: Size{3}, Update: InPlace, Exporters: exporters}
		o.Watch = watch
		o.Watch.Observe = func(c Change) {
			mu.Lock()
			defer mu.Unlock()
			name := c.Task.Name()
			told[name] = append(told[name], c.Phase)
			if !strings.HasPrefix(name, fmt.Sprint("grid ", c.Block)) || (c.Account == nil) != strings.HasSuffix(name, "exporter") {
				t.Errorf("task %q tells %+v", name, c)
			}
		}
		for range 2 { // the second time nobody looks on
			rt, err := orwl.New(orwl.Options{})
			if err != nil {
				t.Fatal(err)
			}
			g := New(rt, o)
			u := NewField(g, "u", FieldOptions[float64]{Halo: Around(1)})
			if err := g.Sweep(passes, func(b *Block) {
				for r := range b.Rows() {
					copy(u.New(r), u.Old(r, 1))
				}
			}); err != nil {
				t.Fatal(err)
			}
			if err := rt.Run(t.Context()); err != nil {
				t.Fatal(err)
			}
			o.Watch = watch
		}
		tasks := 3
		if exporters {
			tasks += 4
		}
		if len(told) != tasks {
			t.Errorf("%d tasks have told what they do, want %d", len(told), tasks)
		}
		for name, got := range told {
			each := []Phase{Importing, Computing, Exporting, Waiting}
			switch {
			case strings.HasSuffix(name, "exporter"):
				each = each[2:]
			case exporters:
				each = []Phase{Importing, Computing, Waiting}
			}
			want := slices.Repeat(each, passes)
			want[len(want)-1] = Outside
			if !slices.Equal(got, want) {
				t.Errorf("task %q has told %v, want %v", name, got, want)
			}
		}
	}
}

// A block is in one phase at any time, and counts every face, on one node and on two. Faces go
// up and down 2 x 4, and left and right 3 x 3.
func TestAccounts(t *testing.T) {
	const sweeps = 6
	for _, c := range []struct {
		o            Options
		faces, bytes int64 // in each sweep
	}{
		{Options{}, 34, 8 * (2*8*7 + 2*9*5)},
		{Options{Exporters: true}, 34 + 24, 8 * (2*8*7 + 2*9*5 + 24)},
		{Options{Stages: 2}, 34, 8 * (2*8*7 + 2*9*5)},
	} {
		for nodes := 1; nodes <= 2; nodes++ {
			var mu sync.Mutex
			var sum Account
			begin := time.Now()
			told := make(map[int]time.Duration) // until the last change, by block
			o := c.o
			o.Update, o.Size, o.Blocks = InPlace, Size{15, 28}, Size{3, 4}
			err := together(nodes, func(ctx context.Context, rt *orwl.Runtime) error {
				o := o
				o.Watch.Clock = func() time.Duration { return time.Since(begin) }
				o.Watch.Observe = func(c Change) {
					if c.Account == nil {
						return
					}
					spent := time.Duration(0)
					for _, s := range c.Account.Spent {
						spent += s
					}
					mu.Lock()
					defer mu.Unlock()
					if told[c.Block] = c.At; spent != c.At {
						t.Errorf("block %d: the phases until %v add up to %v", c.Block, c.At, spent)
					}
				}
				g := New(rt, o)
				u := NewField(g, "u", FieldOptions[float64]{Halo: Around(1)})
				if err := g.Sweep(sweeps, func(b *Block) { relax(u, b) }); err != nil {
					return err
				}
				if err := rt.Run(ctx); err != nil {
					return err
				}
				mu.Lock()
				defer mu.Unlock()
				for _, tile := range g.tiles {
					a := g.Account(tile.block.number)
					if tile.node != rt.Node() {
						if a != (Account{}) {
							t.Errorf("node %d has an account of %s, which is of node %d", rt.Node(), tile.name, tile.node)
						}
						continue
					}
					if a.Ended == 0 || a.Ended != told[tile.block.number] || a.Hidden < 0 || a.Spent[Computing] == 0 {
						t.Errorf("%s: %+v", tile.name, a)
					}
					sum.Imports, sum.Bytes, sum.Early = sum.Imports+a.Imports, sum.Bytes+a.Bytes, sum.Early+a.Early
				}
				return g.Verify(ctx)
			})
			if err != nil {
				t.Fatal(err)
			}
			if sum.Imports != sweeps*c.faces || sum.Bytes != sweeps*c.bytes {
				t.Errorf("%+v, %d nodes: %d faces of %d bytes, want %d of %d", c.o, nodes, sum.Imports, sum.Bytes, sweeps*c.faces, sweeps*c.bytes)
			}
			// In the first sweep initial values come from later tasks, and no task of the same node
			// waits for them.
			if nodes == 1 && sum.Early < c.faces/2 || sum.Early > sum.Imports {
				t.Errorf("%+v, %d nodes: %d of %d faces were early", c.o, nodes, sum.Early, sum.Imports)
			}
		}
	}
}
