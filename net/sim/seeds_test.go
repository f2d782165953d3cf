package sim_test

import (
	_ "embed"
	"fmt"
	"strings"
	"testing"

	"github.com/orwl/go-orwl/net/sim/specimen"
	"github.com/orwl/go-orwl/net/topology"
)

//go:embed testdata/seeds.txt
var keptSeeds string

// A seed that found something finds it again.
func TestKeptSeeds(t *testing.T) {
	kept := 0
	for line := range strings.Lines(keptSeeds) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		run, want, _ := strings.Cut(strings.TrimSpace(line), ": ")
		var lock, tree string
		var acquisitions, writers int
		var seed uint64
		if _, err := fmt.Sscan(run, &lock, &tree, &acquisitions, &writers, &seed); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		parsed, err := topology.Parse(tree)
		if err != nil {
			t.Fatal(err)
		}
		s, ok := specimen.ByName(lock)
		if !ok {
			t.Fatalf("no specimen %q", lock)
		}
		system := specimen.Contest{Topology: parsed, Acquisitions: acquisitions, Writers: writers}.System(s)
		if f := system.Seed(seed).Failure; f == nil || !strings.Contains(f.Err.Error(), want) {
			t.Errorf("%s: want %q, got %v", run, want, f)
		}
		kept++
	}
	if kept < 10 {
		t.Errorf("only %d seeds are kept", kept)
	}
}
