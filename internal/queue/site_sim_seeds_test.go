package queue

import (
	_ "embed"
	"fmt"
	"iter"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/orwl/go-orwl/internal/invariant"
	"github.com/orwl/go-orwl/internal/queue/coherence"
	"github.com/orwl/go-orwl/internal/rings"
)

var (
	nodeSeeds = rings.Seeds("resource.nodeseeds", 150, 32_000, "TestSiteSeeds: seeds")
	rareSeeds = rings.Size("resource.rareseeds", 0, 1500, 3000, "TestRareStatesOfSites: seeds, the same in each change; none, if 0")
)

// simSeen counts what happens in a run.
type simSeen struct {
	served, told, commits, failed, flushes, gone, quiet       int
	crashes, midway, contended, joins, cancelled, interrupted int
	late                                                      int

	messages [coherence.ConfirmedMessage + 1]int
	counts   SiteCounts
}

// sees notes a message that is sent.
func (s *simSeen) sees(m *coherence.Message) { s.messages[m.Kind]++ }

func (s *simSeen) add(c SiteCounts) {
	s.counts.OtherLife += c.OtherLife
	s.counts.Expired += c.Expired
	s.counts.Revoked += c.Revoked
}

// rare is how often each state was met that must be met by some seed.
func (s *simSeen) rare() map[string]int {
	rare := map[string]int{
		"an access": s.served, "a committed write": s.commits, "an access or a request is told of a loss": s.told,
		"a writer fails": s.failed, "a Flush knows all": s.flushes,
		"a released write is lost": s.gone, "a write is lost by suspicion alone": s.quiet,
		"a node starts again": s.crashes, "in the middle of an operation": s.midway, "nodes meet again": s.joins,
		"a request is cancelled": s.cancelled, "a context ends while its task waits": s.interrupted,
		"a used resource is mirrored late": s.late,
		"a message of another life":        int(s.counts.OtherLife), "a grant ends with its lease at home": int(s.counts.Expired),
		"a grant is given up at a mirror": int(s.counts.Revoked),
	}
	if invariant.Enabled {
		rare["a delivery meets a poke that holds the mutex"] = s.contended
	}
	for kind, n := range s.messages {
		if kind > 0 {
			rare[fmt.Sprint("a message: ", coherence.Kind(kind))] = n
		}
	}
	return rare
}

// playSites plays a seed.
func playSites(seed uint64, flaw string, done func(*siteRun)) (steps int, err error) {
	report := siteSystem(seed, flaw, false, done).Seeds(seed, 1)
	if report.Err() == nil {
		return report.Steps, nil
	}
	return report.Steps, fmt.Errorf("seed %d: %w", seed, siteSystem(seed, flaw, true, nil).Seeds(seed, 1).Failure.Err)
}

// TestSiteSeeds checks what sites promise, whatever happens. A writer is alone. An access
// sees the last commit. No commit is lost, and none has an old fence. A write whose Release
// and Flush returned nil is there. A write that was released and is lost was reported. When
// all is well again, each place is served, or told.
func TestSiteSeeds(t *testing.T) {
	rings.Computes(t)
	playSideBySide(t, nodeSeeds.Part(1, rings.Of(1, 2, 1)), runtime.GOMAXPROCS(0))
}

// TestRareStatesOfSites plays the same seeds in each change. They meet every rare state: a share
// of TestSiteSeeds need not. The rarest one is met five times by 1,000 seeds.
func TestRareStatesOfSites(t *testing.T) {
	rings.Computes(t)
	if rareSeeds.N() == 0 {
		t.Skip("this test takes long: -resource.rareseeds 3000")
	}
	met := playSideBySide(t, upTo(uint64(rareSeeds.N())), runtime.GOMAXPROCS(0))
	for _, what := range slices.Sorted(maps.Keys(met)) {
		t.Logf("%9d times: %s", met[what], what)
		if met[what] == 0 {
			t.Errorf("no seed meets it: %s", what)
		}
	}
}

// TestSitesSideBySide plays a few games at the same time. The race detector sees whether they
// share something.
func TestSitesSideBySide(t *testing.T) { playSideBySide(t, upTo(24), 4) }

// playSideBySide plays seeds by some goroutines, and counts the rare states that they meet.
func playSideBySide(t *testing.T, seeds iter.Seq[uint64], players int) (met map[string]int) {
	t.Helper()
	var steps, runs atomic.Uint64
	var mu sync.Mutex
	met = make(map[string]int)
	note := func(c *siteRun) {
		mu.Lock()
		defer mu.Unlock()
		for what, n := range c.seen.rare() {
			met[what] += n
		}
	}
	next := make(chan uint64)
	var all sync.WaitGroup
	for range players {
		all.Go(func() {
			for seed := range next {
				n, err := playSites(seed, "", note)
				if err != nil {
					t.Error(err)
				}
				steps.Add(uint64(n))
				runs.Add(1)
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
	t.Logf("%d seeds, %d steps", runs.Load(), steps.Load())
	return met
}

// The seeds would find it if there were no fence, if dirty ranges were not sent, if a
// failed write were committed, if lost writes were not reported, or if a home gave grants
// away before their lease is over.
func TestSiteSeedsFindFlaws(t *testing.T) {
	rings.Computes(t)
	for _, flaw := range []string{"fence", "abandon", "silent", "lease"} {
		t.Run(flaw, func(t *testing.T) {
			for seed := range uint64(3000) {
				if _, err := playSites(seed, flaw, nil); err != nil {
					text, _, _ := strings.Cut(err.Error(), "\n")
					t.Log(text)
					return
				}
			}
			t.Error("not found")
		})
	}
}

//go:embed testdata/seeds.txt
var keptSeeds string

// TestKeptSiteSeeds plays seeds that once found something.
func TestKeptSiteSeeds(t *testing.T) {
	kept := 0
	for line := range strings.Lines(keptSeeds) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		var seed uint64
		if _, err := fmt.Sscanf(line, "seed %d:", &seed); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if _, err := playSites(seed, "", nil); err != nil {
			t.Errorf("%s%v", line, err)
		}
		kept++
	}
	if kept < 3 {
		t.Errorf("only %d seeds are kept", kept)
	}
}
