package stencil

import (
	"context"
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

// Each piece and each exporter tells all that it does, in order.
func TestChanges(t *testing.T) {
	const passes = 3
	for _, exporters := range []bool{false, true} {
		var mu sync.Mutex
		told := make(map[string][]Phase) // by task
		var ticks atomic.Int64
		o := Options{Size: Size{12}, Blocks: Size{3}, Update: InPlace, Exporters: exporters}
		o.Clock = func() time.Duration { return time.Duration(ticks.Add(1)) }
		o.Observe = func(task *orwl.Task, phase Phase, at time.Duration) {
			mu.Lock()
			defer mu.Unlock()
			name := task.Name()
			told[name] = append(told[name], phase)
			if at == 0 || at > time.Duration(ticks.Load()) {
				t.Errorf("task %q tells of phase %d at %d", name, phase, at)
			}
		}
		for range 2 { // the second time there is no observer
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
			o.Observe = nil
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

// The second of two blocks in a row never finds a face that was there before it waited: the first
// one needs the second one's last pass for it. Nothing is hidden in blocks of one piece. So it is on two
// nodes, where a face is there when it has come.
func TestAccountsOfAChain(t *testing.T) {
	const passes = 4
	for nodes := 1; nodes <= 2; nodes++ {
		var ticks atomic.Int64
		var mu sync.Mutex
		names := make(map[string]bool)
		err := together(nodes, func(ctx context.Context, rt *orwl.Runtime) error {
			o := Options{Size: Size{12}, Blocks: Size{2}, Update: InPlace}
			o.Clock = func() time.Duration { return time.Duration(ticks.Add(1)) }
			o.Observe = func(task *orwl.Task, _ Phase, _ time.Duration) {
				mu.Lock()
				defer mu.Unlock()
				names[task.Name()] = true
			}
			g := New(rt, o)
			u := NewField(g, "u", FieldOptions[float64]{Halo: Around(1)})
			if err := g.Sweep(passes, func(b *Block) {
				for r := range b.Rows() {
					copy(u.New(r), u.Old(r, 1))
				}
			}); err != nil {
				return err
			}
			if err := rt.Run(ctx); err != nil {
				return err
			}
			if g.Node(1) == rt.Node() {
				if a := g.Account(1); a.Imports != passes || a.Early != 0 || a.Hidden != 0 {
					t.Errorf("%d nodes: the second block has %+v", nodes, a)
				}
			}
			if a := g.Account(0); nodes == 1 && (a.Imports != passes || a.Early != 1 || a.Hidden != 0) {
				t.Errorf("the first block has %+v, want its initial face early", a)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if len(names) != 2 || !names["grid 0"] || !names["grid 1"] {
			t.Errorf("%d nodes: the tasks are %v", nodes, names)
		}
	}
}

// Without a clock nothing is counted.
func TestNoAccounts(t *testing.T) {
	rt, err := orwl.New(orwl.Options{})
	if err != nil {
		t.Fatal(err)
	}
	g := New(rt, Options{Size: Size{12, 4}, Blocks: Size{2, 1}})
	u := NewField(g, "u", FieldOptions[float64]{Halo: Around(1)})
	if err := g.Sweep(3, func(b *Block) { relax(u, b) }); err != nil {
		t.Fatal(err)
	}
	if err := rt.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if a := g.Account(1); a != (Account{}) {
		t.Errorf("the account is %+v", a)
	}
}

// Jacobi has two tasks for each piece, and only one of them if there is one pass. Without a pass
// there is none.
func TestTaskNames(t *testing.T) {
	for passes, want := range [][]string{
		nil,
		{"grid 0,0, even, piece 1 of 2", "grid 0,0, even, piece 2 of 2"},
		{"grid 0,0, even, piece 1 of 2", "grid 0,0, even, piece 2 of 2", "grid 0,0, odd, piece 1 of 2", "grid 0,0, odd, piece 2 of 2"},
	} {
		rt, err := orwl.New(orwl.Options{})
		if err != nil {
			t.Fatal(err)
		}
		g := New(rt, Options{Size: Size{32, 8}, Blocks: Size{2, 1}, pieces: 4})
		u := NewField(g, "u", FieldOptions[float64]{Halo: Around(1)})
		if err := g.Sweep(passes, func(b *Block) { relax(u, b) }); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, task := range rt.Inspect().Tasks {
			if strings.HasPrefix(task.Task, "grid 0,0") {
				got = append(got, task.Task)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%d passes: the tasks of a block are %v, want %v", passes, got, want)
		}
		if err := rt.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// spentBy is the time of a node's blocks in each phase, when all have ended.
func spentBy(g *Grid, node int) (sum [phases]time.Duration) {
	last, ended, blocks := time.Duration(0), time.Duration(0), 0
	for _, t := range g.tiles {
		if t.node != node {
			continue
		}
		a := g.Account(t.block.number)
		for p := range sum {
			sum[p] += a.Spent[p]
		}
		last, ended, blocks = max(last, a.Ended), ended+a.Ended, blocks+1
	}
	sum[Outside] += time.Duration(blocks)*last - ended
	return sum
}

// A wait ends when the last face comes. From then on the block is queued.
func TestQueued(t *testing.T) {
	for _, c := range []struct {
		computed, far  time.Duration
		waited, queued time.Duration
	}{
		{5, 8, 0, 40}, // both were there before
		{25, 8, 15, 25},
		{25, 30, 20, 20},
		{50, 30, 40, 0},
	} {
		now := time.Duration(50)
		far := new(arrival)
		far.at.Store(int64(c.far))
		g := &Grid{o: Options{Clock: func() time.Duration { return now }, Live: true}}
		p := &piece{tile: &tile{grid: g}, reads: []port{{face: &face{computed: c.computed}}, {face: new(face), far: far}}}
		p.begun() // before its first pass it waits for nothing
		if p.watch.Spent != [phases]time.Duration{} {
			t.Errorf("outside it has spent %v", p.watch.Spent)
		}
		p.watch.phase, p.watch.since = Waiting, 10
		p.begun()
		p.enter(Computing)
		if got := p.watch.Spent; got[Waiting] != c.waited || got[Queued] != c.queued {
			t.Errorf("faces at %v and %v: it waited for %v and was queued for %v, want %v and %v", c.computed, c.far, got[Waiting], got[Queued], c.waited, c.queued)
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
		{Options{pieces: 2}, 34, 8 * (2*8*7 + 2*9*5)},
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
				var g *Grid
				o.Clock = func() time.Duration { return time.Since(begin) }
				o.Live = true
				o.Observe = func(task *orwl.Task, _ Phase, at time.Duration) {
					name := task.Name()
					if strings.HasSuffix(name, "exporter") {
						return
					}
					block := slices.IndexFunc(g.tiles, func(t *tile) bool { return name == t.name || strings.HasPrefix(name, t.name+", ") })
					spent := time.Duration(0)
					for _, s := range g.Account(block).Spent { // the task holds the block
						spent += s
					}
					mu.Lock()
					defer mu.Unlock()
					if told[block] = at; spent != at {
						t.Errorf("block %d: the phases until %v add up to %v", block, at, spent)
					}
				}
				g = New(rt, o)
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
				if got, want := g.Spent(), spentBy(g, rt.Node()); got != want {
					t.Errorf("node %d has spent %v, and its blocks %v", rt.Node(), got, want)
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
