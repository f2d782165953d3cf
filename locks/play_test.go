package locks_test

import (
	_ "embed"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/net/sim"
	"github.com/orwl/go-orwl/net/topology"
)

// TestPlay plays one game again. A failure prints the command.
func TestPlay(t *testing.T) {
	if *plays == "" {
		t.Skip("-locks.play is not given")
	}
	g, err := parseGame(*plays)
	if err != nil {
		t.Fatal(err)
	}
	report := g.system(*seed).Seed(*seed)
	if *schedule != "" {
		for _, vary := range protocols(g.spec) {
			for _, cast := range g.casts() {
				if report.Failure != nil {
					break
				}
				if report, err = g.searched(cast, sim.Faults{Crashes: g.crashes}, vary).Replay(*schedule); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	t.Logf("%d steps", report.Steps)
	if report.Failure != nil {
		t.Fatal(report.Failure)
	}
}

// allWays are the ways of all games.
var allWays = []way{byOperations, direct, survivingOperations, survivingDirect}

// parseGame parses the output of game.String.
func parseGame(text string) (g game, err error) {
	parts := strings.Split(text, "/")
	if len(parts) == 4 {
		parts = append(parts, string(byOperations))
	}
	if len(parts) != 5 || !slices.Contains(allWays, way(parts[4])) {
		return g, fmt.Errorf("%q: want LOCK/TOPOLOGY/ACQUISITIONS/CRASHES/WAY, where the way is one of %s", text, allWays)
	}
	g.way = way(parts[4])
	var known bool
	if g.spec, known = locks.ByName(parts[0]); !known {
		return g, fmt.Errorf("%q: no such lock", text)
	}
	if g.tree, err = topology.Parse(parts[1]); err != nil {
		return g, err
	}
	_, err = fmt.Sscan(parts[2]+" "+parts[3], &g.acquisitions, &g.crashes)
	return g, err
}

//go:embed testdata/seeds.txt
var keptSeeds string

// TestKeptSeeds plays the games that once found a defect.
func TestKeptSeeds(t *testing.T) {
	for line := range strings.Lines(keptSeeds) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		at, _, _ := strings.Cut(line, ": ")
		text, number, _ := strings.Cut(at, " seed ")
		g, err := parseGame(text)
		if err != nil {
			t.Fatal(err)
		}
		s, err := strconv.ParseUint(number, 10, 64)
		if err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if r := g.seeds(from(s, 1)); r.Failure != nil {
			t.Errorf("%s: %v", line, r.Failure)
		}
	}
}
