package locks_test

import (
	_ "embed"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/locks/explore"
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
	report := g.System(*seed).Seed(*seed)
	if *schedule != "" {
		for _, protocol := range explore.Protocols(g.Lock) {
			for _, cast := range g.Casts() {
				if report.Failure != nil {
					break
				}
				if report, err = g.Searched(cast, sim.Faults{Crashes: g.Crashes}, protocol.Set).Replay(*schedule); err != nil {
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
var allWays = []way{byOperations, direct, explore.SurvivingOperations, explore.SurvivingDirect}

// parseGame parses the output of Game.String.
func parseGame(text string) (g explore.Game, err error) {
	parts := strings.Split(text, "/")
	if len(parts) == 4 {
		parts = append(parts, string(byOperations))
	}
	if len(parts) != 5 || !slices.Contains(allWays, way(parts[4])) {
		return g, fmt.Errorf("%q: want LOCK/TOPOLOGY/ACQUISITIONS/CRASHES/WAY, where the way is one of %s", text, allWays)
	}
	spec, known := locks.ByName(parts[0])
	if !known {
		return g, fmt.Errorf("%q: no such lock", text)
	}
	tree, err := topology.Parse(parts[1])
	if err != nil {
		return g, err
	}
	var acquisitions, crashes int
	_, err = fmt.Sscan(parts[2]+" "+parts[3], &acquisitions, &crashes)
	return gameOf(spec, tree, acquisitions, crashes, way(parts[4])), err
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
		if r := g.Seeds(explore.From(s, 1)); r.Failure != nil {
			t.Errorf("%s: %v", line, r.Failure)
		}
	}
}
