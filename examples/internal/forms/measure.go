package forms

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/orwl/go-orwl/internal/native"
)

//go:embed openmp
var openmp embed.FS

// Test compares the forms in Go on a small grid.
func (k Kernel[T]) Test(t *testing.T) {
	_, want, _ := k.plain(1)(24, 5)
	for name, form := range map[string]form{"grid": k.grid, "barrier": k.plain(3)} {
		if _, got, err := form(24, 5); err != nil || got != want {
			t.Errorf("%s: checksum %x, %v, want %x", name, got, err, want)
		}
	}
}

// native is the form in C, which is built for this machine, or nil.
func (k Kernel[T]) native(b *testing.B) form {
	p, err := native.C.Build(b.Context(), native.Source{
		Name: "stencils", Files: openmp, Main: "openmp/stencils.c", Headers: []native.Header{{Name: "omp.h", Debian: "gcc"}},
		Flags: []string{"-ffp-contract=off", "-fopenmp", "-lm"},
	})
	if errors.Is(err, native.ErrMissing) {
		b.Logf("without OpenMP: %v", err)
		return nil
	}
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = p.Close() }) // it removes a temporary folder
	return func(side, sweeps int) (took time.Duration, sum uint64, err error) {
		c := p.Command(context.Background(), 1, k.Name, strconv.Itoa(side), strconv.Itoa(sweeps))
		c.Env = append(os.Environ(), fmt.Sprintf("OMP_NUM_THREADS=%d", runtime.GOMAXPROCS(0)))
		out, err := c.Output()
		if err != nil {
			return 0, 0, fmt.Errorf("%v: %w", c, err)
		}
		var seconds float64
		_, err = fmt.Sscanf(string(out), "%g %x", &seconds, &sum)
		return time.Duration(seconds * 1e9), sum, err
	}
}

// Benchmark plays the forms in turn, and reports the grid's median time for a cell and sweep, and how many times that
// is of each other form's: below 1 the grid is faster.
func (k Kernel[T]) Benchmark(b *testing.B) {
	names := []string{"grid", "sequential", "barrier", "openmp"}
	forms := []form{k.grid, k.plain(1), k.plain(runtime.GOMAXPROCS(0)), k.native(b)}
	took := make([][]time.Duration, len(forms))
	for b.Loop() {
		var want uint64
		for i, form := range forms {
			if form == nil {
				continue
			}
			t, sum, err := form(k.Side, k.Sweeps)
			if i == 0 {
				want = sum
			}
			if err != nil || sum != want {
				b.Fatalf("%s: checksum %x, %v, and the grid's is %x", names[i], sum, err, want)
			}
			took[i] = append(took[i], t)
		}
	}
	median := func(all []time.Duration) float64 {
		slices.Sort(all)
		return float64(all[len(all)/2])
	}
	ours := median(took[0])
	for i, all := range took[1:] {
		if all != nil {
			b.ReportMetric(ours/median(all), "of-"+names[i+1])
		}
	}
	cells := math.Pow(float64(k.Side), float64(k.ranks()))
	b.ReportMetric(ours/cells/float64(k.Sweeps), "ns/cell")
	b.ReportMetric(0, "ns/op") // all forms together
}
