package lab

import (
	"fmt"
	"testing"

	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/topology"
)

// A benchmark with a lock needs as many words at each of many ranks as at each of a few, apart from the lock's words. Only
// traditional windows have a directory of all ranks.
func TestWordsOfManyRanks(t *testing.T) {
	spec, _ := LockByName("D-MCS")
	for bench, most := range map[string]int{"ECSB": 1200, "LB": 1200, "SOB": 1200, "WCSB": 10000} {
		for _, nodes := range []int{1, 4096} {
			c := Case{Benchmark: bench, Lock: spec.Name, Machine: fmt.Sprintf("node:%d core:16", nodes)}
			if words, err := c.Words(Of(spec, c.Options)); err != nil || words > most {
				t.Errorf("%s on %s needs %d words at a rank, %v, want at most %d", bench, c.Machine, words, err, most)
			}
		}
	}
}

// levels has what Tree.Common says.
func TestLevels(t *testing.T) {
	for _, text := range []string{"core:1", "core:5", "node:2 core:3", "node:2 socket:2 core:2", "node:3 core:2*1+3*1+1*1"} {
		tree, err := topology.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		for p := range rma.Rank(tree.Ranks()) {
			all := levelsOf(tree, p)
			for q := range rma.Rank(tree.Ranks()) {
				if got, want := all.common(q), tree.Common(p, q); got != want {
					t.Errorf("%s: ranks %d and %d have level %d in common, want %d", text, p, q, got, want)
				}
			}
		}
	}
}
