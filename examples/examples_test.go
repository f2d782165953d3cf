// Package examples_test runs each example as a user does.
package examples_test

import (
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/orwl/go-orwl/orwl/stencil/files"
)

// Each example ends well, and prints what it is known to print.
func TestExamples(t *testing.T) {
	bin := built(t)
	folders, err := filepath.Glob("*/main.go")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]string{
		"heat":        {"60 cells in ", ": 1000 sweeps, "},
		"jacobi3d":    {"96×96×96 cells in ", ": 100 sweeps, ", "a sequential sweep has the same bits\n"},
		"wave":        {"200×200 cells in ", ": 400 sweeps, "},
		"grayscott":   {"160×160 cells in ", "the eater is in "},
		"life":        {".#..............\n..#.............\n###.............\n"},
		"gaussseidel": {": 1296 sweeps, "},
		"redblack":    {": 160 sweeps, "},
		"multigrid":   {"255×255 cells in ", ": 12 sweeps, "},
		"poisson":     {": 533 sweeps, ", "4865.736165971 in the middle"},
		"pipelined":   {": 411 sweeps, ", "4865.7361152"},
		"power":       {"year 900: times 1.0972007"},
		"filter":      {"240×320 cells in "},
		"primes":      {"9592 primes below 100000\n"},
		"pairs":       {"by pairs:    55bc29163064bff5\nby the plan: 55bc29163064bff5\n"},
		"cg":          {"533 rounds, sha256 aacef8303ac55d5f\n"},
		"mergesort":   {"15000 numbers are sorted: announced, waits "},
	}
	dir := t.TempDir()
	// Some draw a film, and the cube a picture.
	plot := func(name string) string {
		if name == "jacobi3d" {
			return filepath.Join(dir, name+".png")
		}
		return filepath.Join(dir, name+".gif")
	}
	args := map[string][]string{
		"filter":    {"-out", filepath.Join(dir, "filtered.png")},
		"primes":    {"-below", "100000"},
		"heat":      {"-data", filepath.Join(dir, "heat.npy"), "-verify"},
		"wave":      {"-sweeps", "400", "-verify", "-data", filepath.Join(dir, "wave.pvd"), "-every", "200"},
		"jacobi3d":  {"-verify"},
		"redblack":  {"-verify"},
		"poisson":   {"-nodes", "2", "-data", filepath.Join(dir, "poisson.zarr")},
		"grayscott": {"-sweeps", "500", "-verify", "-nodes", "2"},
		"life":      {"-survive", filepath.Join(dir, "lives")},
		"cg":        {"-nodes", "3", "-strips", "5"},
		"mergesort": {"-nodes", "3", "-runs", "5", "-blocks", "3", "-size", "1000", "-times", "1"}, // it fails if a bit differs
	}
	for _, file := range folders {
		name := filepath.Dir(file)
		t.Run(name, func(t *testing.T) {
			draws := slices.Contains([]string{"life", "jacobi3d", "poisson", "wave"}, name) // a film takes longer than most examples
			if draws {
				args[name] = append(args[name], "-plot", plot(name), "-progress")
			}
			run := exec.Command(filepath.Join(bin, name), args[name]...)
			run.Stderr = os.Stderr
			out, err := run.Output()
			if err != nil {
				t.Fatal(err)
			}
			if len(want[name]) == 0 {
				t.Error("the test does not know what it prints")
			}
			for _, text := range want[name] {
				if !strings.Contains(string(out), text) {
					t.Errorf("it prints\n%s\nand not %q", out, text)
				}
			}
			if !draws {
				return
			}
			if info, err := os.Stat(plot(name)); err != nil || info.Size() < 1000 {
				t.Errorf("its plot: %v, %v", info, err)
			}
		})
	}
	for name, want := range map[string]float64{"heat.npy": 62.3, "poisson.zarr/x": 4865.736} {
		in, err := files.Open[float64](filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil {
			t.Error(err)
			continue
		}
		at, cell := make([]int, len(in.Size())), make([]float64, 1)
		for i, n := range in.Size() {
			at[i] = n / 2
		}
		if len(at) == 1 {
			at[0] = 10
		}
		if in.Row(at, cell); math.Abs(cell[0]-want) > 0.05 {
			t.Errorf("%s has %v at %v, want %v", name, cell[0], at, want)
		}
	}
	if steps, err := filepath.Glob(filepath.Join(dir, "wave", "*.pvti")); err != nil || len(steps) != 3 {
		t.Errorf("the series of the wave has the steps %v, %v: want 3", steps, err)
	}
}
