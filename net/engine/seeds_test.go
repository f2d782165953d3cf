package engine_test

import (
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// seeds is how many games TestSeeds plays.
var seeds = flag.Uint64("engine.seeds", 3000, "games in TestSeeds")

// TestSeeds plays games: every operation runs once, in order, and is answered once,
// whatever the streams do; and when they stop doing it, everything ends.
func TestSeeds(t *testing.T) {
	var next atomic.Uint64
	var players sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		players.Go(func() {
			for seed := next.Add(1); seed <= *seeds && !t.Failed(); seed = next.Add(1) {
				if err := play(seed, none); err != nil {
					t.Errorf("seed %d: %v", seed, err)
				}
			}
		})
	}
	players.Wait()
}

// TestMistakes plays with endpoints that are wrong, until that is noticed.
func TestMistakes(t *testing.T) {
	for _, m := range []mistake{takesDuplicates, takesEarly, believesAll} {
		t.Run(string(m), func(t *testing.T) {
			for seed := range uint64(200) {
				if err := play(seed, m); err != nil {
					t.Logf("seed %d: %v", seed, err)
					return
				}
			}
			t.Error("not noticed in 200 games")
		})
	}
}

//go:embed testdata/seeds.txt
var keptSeeds string

// TestKeptSeeds plays games in which something was once wrong, or must be.
func TestKeptSeeds(t *testing.T) {
	kept := 0
	for line := range strings.Lines(keptSeeds) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "#") {
			continue
		}
		name, what, _ := strings.Cut(line, ": ")
		m, number, _ := strings.Cut(name, ", seed ")
		var seed uint64
		if _, err := fmt.Sscan(number, &seed); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		err := play(seed, mistake(m))
		if right := mistake(m) == none; right != (err == nil) || !right && !strings.Contains(err.Error(), what) {
			t.Errorf("%s: %v", line, err)
		}
		kept++
	}
	if kept < 3 {
		t.Errorf("only %d seeds are kept", kept)
	}
}

// TestLivenessIsChecked plays with endpoints that never acknowledge anything.
func TestLivenessIsChecked(t *testing.T) {
	if err := play(1, neverTells); !errors.Is(err, errLiveness) {
		t.Errorf("nothing is ever acknowledged, and the game ends with: %v", err)
	}
}
