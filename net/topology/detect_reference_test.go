package topology

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestDetectAgainstReference scatters CPU numbers over an irregular machine and
// asks of every two CPUs whether the tree knows what they share.
func TestDetectAgainstReference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.IntRange(1, 3)
		m, ids := fixture{}, rapid.Permutation(upTo(162)).Draw(t, "numbers")
		var at placement
		for at.socket = range parts.Draw(t, "sockets") {
			for range parts.Draw(t, "nodes") {
				at.node++
				for range parts.Draw(t, "caches") {
					at.cache++
					for range parts.Draw(t, "cores") {
						at.core++
						for range rapid.IntRange(1, 2).Draw(t, "threads") {
							at.offline = rapid.IntRange(0, 4).Draw(t, "offline") == 0
							m[ids[len(m)]] = at
						}
					}
				}
			}
		}
		allowed := m.where(func(placement) bool { return rapid.Bool().Draw(t, "allowed") })
		usable := narrow(allowed, m.where(func(placement) bool { return true }))
		tree, err := detect(m.files(), allowed)
		if usable == nil {
			if err == nil {
				t.Fatalf("found %s where there is nothing", tree)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		checkInvariants(t, tree)
		if sorted := slices.Sorted(slices.Values(tree.cpus)); !slices.Equal(sorted, slices.Collect(usable.all)) {
			t.Fatalf("ranks are on %v, want %v", sorted, usable)
		}
		for a := range Rank(tree.Ranks()) {
			for b := range a {
				checkShared(t, tree, m, a, b)
			}
		}
		checkEveryLevelTells(t, tree)
	})
}

// checkShared compares, thing by thing, whether two CPUs share it. A level that
// the tree left out says as much as the one above it, unless it held single
// leaves, which share nothing.
func checkShared(t *rapid.T, tree *Tree, m fixture, a, b Rank) {
	x, y := m[tree.cpus[a]], m[tree.cpus[b]]
	shared := map[string]bool{"socket": x.socket == y.socket, "numa": x.node == y.node, "cache": x.cache == y.cache, "core": x.core == y.core}
	for i := 2; i <= tree.Levels(); i++ {
		name := tree.LevelName(i)
		if together := tree.Element(a, i) == tree.Element(b, i); together != shared[name] {
			t.Fatalf("CPUs %d and %d: in one %s element %v, share it %v", tree.cpus[a], tree.cpus[b], name, together, shared[name])
		}
	}
}

func checkEveryLevelTells(t *rapid.T, tree *Tree) {
	for i := 2; i <= tree.Levels(); i++ {
		if tree.Elements(i) == tree.Elements(i-1) || tree.Elements(i) == tree.Ranks() {
			t.Fatalf("%s: level %s orders nothing", tree, tree.LevelName(i))
		}
	}
}
