// Package examples_test runs each example as a user does.
package examples_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Each example ends well, and prints what it is known to print.
func TestExamples(t *testing.T) {
	bin := built(t)
	folders, err := filepath.Glob("*/main.go")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"heat":        " 10  62.3",
		"jacobi3d":    "96×96×96 cells in ",
		"wave":        "200×200 cells in ",
		"life":        ".#..............\n..#.............\n###.............\n",
		"gaussseidel": "no cell changes by more than 0.0001 after 1296 sweeps",
		"redblack":    "no cell changes by more than 0.0001 after 160 sweeps",
		"poisson":     "533 sweeps, 4865.736165971 in the middle",
		"pipelined":   "411 sweeps, 4865.7361152",
		"power":       "year 900: times 1.0972007",
		"filter":      "240×320 cells in ",
		"primes":      "9592 primes below 100000\n",
		"pairs":       "by pairs:    55bc29163064bff5\nby the plan: 55bc29163064bff5\n",
		"cg":          "533 rounds, mean 2339.297788900, sha256 9d016b0f36d43cc5\n",
		"mergesort":   "15000 numbers are sorted: announced, waits ",
	}
	dir := t.TempDir()
	// Each draws a film, and the cube a picture.
	plot := func(name string) string {
		if name == "jacobi3d" {
			return filepath.Join(dir, name+".png")
		}
		return filepath.Join(dir, name+".gif")
	}
	args := map[string][]string{
		"filter":    {"-out", filepath.Join(dir, "filtered.png")},
		"primes":    {"-below", "100000"},
		"cg":        {"-nodes", "3", "-strips", "5"},
		"mergesort": {"-nodes", "3", "-runs", "5", "-blocks", "3", "-size", "1000", "-times", "1"}, // it fails if a bit differs
	}
	for _, file := range folders {
		name := filepath.Dir(file)
		t.Run(name, func(t *testing.T) {
			draws := !slices.Contains([]string{"primes", "pairs", "mergesort", "cg", "poisson", "pipelined"}, name)
			if draws {
				args[name] = append(args[name], "-plot", plot(name), "-progress")
			}
			run := exec.Command(filepath.Join(bin, name), args[name]...)
			run.Stderr = os.Stderr
			out, err := run.Output()
			if err != nil {
				t.Fatal(err)
			}
			if text, known := want[name]; !known || !strings.Contains(string(out), text) {
				t.Errorf("it prints\n%s\nand not %q", out, text)
			}
			if !draws {
				return
			}
			if info, err := os.Stat(plot(name)); err != nil || info.Size() < 1000 {
				t.Errorf("its plot: %v, %v", info, err)
			}
		})
	}
}
