// Package examples_test runs each example as a user does.
package examples_test

import (
	"os"
	"os/exec"
	"path/filepath"
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
		"gaussseidel": "after sweep 1268 ",
		"redblack":    "in sweep 261 ",
		"filter":      "240×320 cells in ",
		"primes":      "9592 primes below 100000\n",
	}
	dir := t.TempDir()
	// Each draws a film, and the cube a picture.
	plot := func(name string) string {
		if name == "jacobi3d" {
			return filepath.Join(dir, name+".png")
		}
		return filepath.Join(dir, name+".gif")
	}
	args := map[string][]string{"filter": {"-out", filepath.Join(dir, "filtered.png")}, "primes": {"-below", "100000"}}
	for _, file := range folders {
		name := filepath.Dir(file)
		t.Run(name, func(t *testing.T) {
			draws := name != "primes"
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
