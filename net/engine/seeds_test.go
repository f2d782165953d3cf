package engine_test

import (
	_ "embed"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/orwl/go-orwl/internal/rings"
)

var seeds = rings.Seeds("engine.seeds", 400, 48_000, "TestSeeds: games")

// TestSeeds plays games: every operation runs once, in order, and is answered once,
// whatever the streams do; and when they stop doing it, everything ends.
func TestSeeds(t *testing.T) {
	rings.Computes(t)
	playSideBySide(t, seeds.All(), runtime.GOMAXPROCS(0))
}

// TestSideBySide plays a few games at the same time. The race detector sees whether they share
// something.
func TestSideBySide(t *testing.T) {
	playSideBySide(t, func(yield func(uint64) bool) {
		for seed := uint64(0); seed < 64 && yield(seed); seed++ {
		}
	}, 4)
}

func playSideBySide(t *testing.T, seeds iter.Seq[uint64], players int) {
	t.Helper()
	next := make(chan uint64)
	var all sync.WaitGroup
	for range players {
		all.Go(func() {
			for seed := range next {
				if err := play(seed, none); err != nil {
					t.Errorf("seed %d: %v", seed, err)
				}
			}
		})
	}
	for seed := range seeds {
		if t.Failed() {
			break
		}
		next <- seed
	}
	close(next)
	all.Wait()
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
