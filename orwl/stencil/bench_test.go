package stencil

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/orwl/go-orwl/orwl"
)

// BenchmarkJacobi3D sweeps a cube, by the grid, by goroutines that meet at a barrier after each
// sweep, and by one goroutine. The inner loop is the same.
func BenchmarkJacobi3D(b *testing.B) {
	const n, sweeps = 192, 20
	cells := float64(n * n * n * sweeps)
	report := func(b *testing.B) {
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/cells, "ns/cell")
	}
	initial := func(at []int) float64 { return float64(at[0]*at[1] - at[2]) }
	for _, o := range []Options{{}, {Sweeps: 4}, {Blocks: Size{8, 2, 1}}, {Blocks: Size{8, 2, 1}, Sweeps: 4}} {
		o.Size = Size{n, n, n}
		b.Run(fmt.Sprintf("grid/blocks=%v/sweeps=%d", o.Blocks, o.Sweeps), func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				rt, err := orwl.New(orwl.Options{})
				if err != nil {
					b.Fatal(err)
				}
				g := New(rt, o)
				u := NewField(g, "u", FieldOptions[float64]{Halo: Around(1), Initial: initial})
				if err := g.Sweep(sweeps, func(block *Block) {
					for r := range block.Rows() {
						average(u.New(r), u.Old(r, -1, 0, 0), u.Old(r, 1, 0, 0), u.Old(r, 0, -1, 0), u.Old(r, 0, 1, 0), u.Old(r, 0, 0, -1), u.Old(r, 0, 0, 1))
					}
				}); err != nil {
					b.Fatal(err)
				}
				runtime.GC()
				b.StartTimer()
				if err := rt.Run(context.Background()); err != nil {
					b.Fatal(err)
				}
			}
			report(b)
		})
	}
	for _, workers := range []int{1, runtime.GOMAXPROCS(0)} {
		b.Run(fmt.Sprintf("barrier/workers=%d", workers), func(b *testing.B) {
			const side = n + 2
			u := [2][]float64{make([]float64, side*side*side), make([]float64, side*side*side)}
			for b.Loop() {
				for s := range sweeps {
					old, next := u[s%2], u[(s+1)%2]
					var all sync.WaitGroup
					for w := range workers {
						all.Go(func() {
							for z := 1 + w*n/workers; z < 1+(w+1)*n/workers; z++ {
								for y := 1; y <= n; y++ {
									at := (z*side+y)*side + 1
									row := func(by int) []float64 { return old[at+by : at+by+n] }
									average(next[at:at+n], row(-side*side), row(side*side), row(-side), row(side), row(-1), row(1))
								}
							}
						})
					}
					all.Wait()
				}
			}
			report(b)
		})
	}
}

// BenchmarkInPlace sweeps in place, with blocks of one piece and of several.
func BenchmarkInPlace(b *testing.B) {
	const n, sweeps = 2000, 40
	for _, o := range []Options{{Blocks: Size{4, 4}}, {Blocks: Size{2, 1}}, {Blocks: Size{4, 1}}, {Blocks: Size{4, 4}, Sweeps: 4}, {Blocks: Size{64, 64}}} {
		for _, pieces := range []int{-1, 0} {
			o.Size, o.Update, o.pieces = Size{n, n}, InPlace, pieces
			b.Run(fmt.Sprintf("blocks=%v/sweeps=%d/pieces=%d", o.Blocks, o.Sweeps, pieces), func(b *testing.B) {
				for b.Loop() {
					b.StopTimer()
					rt, err := orwl.New(orwl.Options{})
					if err != nil {
						b.Fatal(err)
					}
					g := New(rt, o)
					u := NewField(g, "u", FieldOptions[float64]{Halo: Around(1), Initial: func(at []int) float64 { return float64(at[0] - at[1]) }})
					if err := g.Sweep(sweeps, func(block *Block) { relax(u, block) }); err != nil {
						b.Fatal(err)
					}
					b.StartTimer()
					if err := rt.Run(context.Background()); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/(n*n*sweeps), "ns/cell")
			})
		}
	}
}

// BenchmarkSum sweeps a plate without a sum, and with one that may end the run, in turns: the ratio is of the shortest times.
func BenchmarkSum(b *testing.B) {
	for _, n := range []int{200, 2000} {
		sweeps := 160_000_000 / (n * n) / 8 * 8
		run := func(every, lag int) time.Duration {
			rt, err := orwl.New(orwl.Options{})
			if err != nil {
				b.Fatal(err)
			}
			g := New(rt, Options{Size: Size{n, n}, Blocks: Size{4, 1}})
			u := NewField(g, "u", FieldOptions[float64]{Halo: Around(1), Initial: func(at []int) float64 { return float64(at[0] - at[1]) }})
			var sum *Reduction
			if every > 0 {
				sum = NewSum(g, "sum", ReductionOptions{Every: every, Lag: lag, Until: func(_ int, v float64) bool { return v != v }})
			}
			if err := g.Sweep(sweeps, func(block *Block) {
				for r := range block.Rows() {
					to := u.New(r)
					average(to, u.Old(r, -1, 0), u.Old(r, 1, 0), u.Old(r, 0, -1), u.Old(r, 0, 1), u.Old(r), u.Old(r))
					if sum != nil {
						sum.Add(block, to...)
					}
				}
			}); err != nil {
				b.Fatal(err)
			}
			runtime.GC()
			begin := time.Now()
			if err := rt.Run(context.Background()); err != nil {
				b.Fatal(err)
			}
			return time.Since(begin)
		}
		for _, c := range [][2]int{{1, 0}, {1, 16}, {8, 0}, {8, 8}, {16, 16}} {
			b.Run(fmt.Sprintf("side=%d/every=%d/lag=%d", n, c[0], c[1]), func(b *testing.B) {
				least := [2]time.Duration{time.Hour, time.Hour}
				for b.Loop() {
					least[0], least[1] = min(least[0], run(0, 0)), min(least[1], run(c[0], c[1]))
				}
				b.ReportMetric(float64(least[0])/float64(n*n*sweeps), "ns/cell-without")
				b.ReportMetric(float64(least[1])/float64(least[0]), "ratio")
			})
		}
	}
}

func average(to, a, b, c, d, e, f []float64) {
	a, b, c, d, e, f = a[:len(to)], b[:len(to)], c[:len(to)], d[:len(to)], e[:len(to)], f[:len(to)]
	for i := range to {
		to[i] = (a[i] + b[i] + c[i] + d[i] + e[i] + f[i]) / 6
	}
}

// BenchmarkTwoNodes sweeps a cube on two nodes of this process, with one block each and with several, in pieces and
// without. It reports which share of the time a block waits for its neighbour and for a processor, and which it
// copies faces.
func BenchmarkTwoNodes(b *testing.B) {
	const n, sweeps = 192, 20
	for _, blocks := range []Size{{2, 1, 1}, {8, 1, 1}} {
		for _, pieces := range []int{-1, 0} {
			b.Run(fmt.Sprintf("blocks=%v/pieces=%d", blocks, pieces), func(b *testing.B) {
				var took, waited, copied time.Duration
				for b.Loop() {
					err := together(2, func(ctx context.Context, rt *orwl.Runtime) error {
						var begin time.Time
						g := New(rt, Options{Size: Size{n, n, n}, Blocks: blocks, pieces: pieces, Clock: func() time.Duration { return time.Since(begin) }, Live: true})
						u := NewField(g, "u", FieldOptions[float64]{Halo: Around(1), Initial: func(at []int) float64 { return float64(at[0]*at[1] - at[2]) }})
						if err := g.Sweep(sweeps, func(block *Block) {
							for r := range block.Rows() {
								average(u.New(r), u.Old(r, -1, 0, 0), u.Old(r, 1, 0, 0), u.Old(r, 0, -1, 0), u.Old(r, 0, 1, 0), u.Old(r, 0, 0, -1), u.Old(r, 0, 0, 1))
							}
						}); err != nil {
							return err
						}
						begin = time.Now()
						if err := rt.Run(ctx); err != nil || rt.Node() != 0 {
							return err
						}
						spent := g.Spent()
						waited += spent[Waiting]
						copied += spent[Importing] + spent[Exporting]
						took += spent[Waiting] + spent[Computing] + spent[Importing] + spent[Exporting]
						return nil
					})
					if err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(100*float64(waited)/float64(took), "wait-%")
				b.ReportMetric(100*float64(copied)/float64(took), "copy-%")
				b.ReportMetric(float64(took)*2/float64(blocks[0])/float64(b.N)/(n*n*n*sweeps), "ns/cell")
				b.ReportMetric(0, "ns/op") // with the nodes' meeting
			})
		}
	}
}
