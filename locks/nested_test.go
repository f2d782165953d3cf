package locks_test

import (
	"strings"
	"testing"

	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/locks/lockstest"
	"github.com/orwl/go-orwl/net/topology"
)

// combinations are the locks that can be made of other locks of the table, each part beside one
// other part at least.
func combinations(t *testing.T) (rows []locks.Spec) {
	add := func(name string) {
		row, ok := locks.ByName(name)
		if !ok {
			t.Errorf("there is no lock %s", name)
		}
		rows = append(rows, row)
	}
	for _, s := range locks.All() {
		if s.Kind != locks.Exclusive || s.Recoverable {
			continue
		}
		add("R-" + s.Name)
		if knows(t, s) {
			add("P-" + s.Name + "-TTS")
		} else if _, ok := locks.ByName("P-" + s.Name + "-MCS"); ok {
			t.Errorf("P-%s-MCS exists, but %s does not know its waiters", s.Name, s.Name)
		}
		add("P-MCS-" + s.Name)
		if parts, ok := strings.CutPrefix(s.Name, "C-"); ok {
			add("C-RW-NP-" + parts)
			add("C-RW-RP-" + parts)
			add("C-RW-WP-" + parts)
		}
	}
	return rows
}

// knows reports whether a lock's sides are a Cohort.
func knows(t *testing.T, spec locks.Spec) bool {
	l, f := onMem(t, spec.Name, "core:2", locks.Options{})
	w, err := f.Window(0)
	must(err)
	_, ok := l.At(w).(locks.Cohort)
	return ok
}

// TestCombinations executes a part of the suite, and a few seeds, for locks that are made of
// others.
func TestCombinations(t *testing.T) {
	rings.Computes(t)
	t.Parallel()
	all, every := combinations(t), rings.Of(8, 1, 1)
	for i := 0; i < len(all); i += every {
		spec := all[i]
		t.Run(spec.Name, func(t *testing.T) {
			t.Parallel()
			for _, name := range []string{"cost/uncontended", "cost/contended", "cost/reader", "visibility/put", "try/contended", "life/closed"} {
				c, err := lockstest.CaseByName(name)
				if err != nil {
					t.Fatal(err)
				}
				conform(t, c, lockstest.Of(spec), backendsOf("sim")...)
			}
			for _, way := range waysOf(spec) {
				g := gameOf(spec, machine(t, "node:2 core:2"), 3, 0, way)
				if r := g.Seeds(seeds.Part(1, 20)); r.Failure != nil {
					t.Fatalf("%s: %v", g, r.Failure)
				}
			}
		})
	}
}

// A combination takes the memory of its parts, and a few words.
func TestCombinationsTakeLittle(t *testing.T) {
	tree := topology.Flat(4)
	words := func(name string) locks.Words {
		s, _ := locks.ByName(name)
		return s.WordsOn(tree)
	}
	mcs, cohort := words("MCS"), words("C-MCS-MCS")
	if got, want := words("P-MCS-MCS"), (locks.Words{Home: 2*mcs.Home + 3, Rank: 2 * mcs.Rank}); got != want {
		t.Errorf("P-MCS-MCS takes %+v, want %+v", got, want)
	}
	if got, want := words("C-RW-NP-MCS-MCS"), (locks.Words{Home: cohort.Home + 1, Rank: cohort.Rank + 16}); got != want {
		t.Errorf("C-RW-NP-MCS-MCS takes %+v, want %+v", got, want)
	}
	for _, name := range []string{"P-", "P-MCS", "P-MCS-", "P-TTS-MCS", "P-MCS-nothing", "C-RW-NP-MCS", "C-RW-XX-MCS-MCS"} {
		if _, ok := locks.ByName(name); ok {
			t.Errorf("there is a lock %q", name)
		}
	}
}
