package topology

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// reference is a simple, slow tree. It stores a path from the machine to every
// rank: one number for each level below the machine, and one for the rank itself.
type reference struct {
	names []string // the levels below the machine, then the leaves
	paths [][]int  // by rank
}

// drawReference draws a tree of up to four levels, regular or not.
func drawReference(t *rapid.T) reference {
	names := rapid.SliceOfNDistinct(rapid.IntRange(1, len(levelNames)-1), 1, 4, rapid.ID).Draw(t, "names")
	var r reference
	for g, name := range levelNames {
		for _, drawn := range names {
			if drawn == g {
				r.names = append(r.names, name)
			}
		}
	}
	regular := rapid.Bool().Draw(t, "regular")
	r.paths = [][]int{nil}
	for range r.names {
		count := rapid.IntRange(1, 3).Draw(t, "count")
		var finer [][]int
		for _, path := range r.paths {
			if !regular {
				count = rapid.IntRange(1, 3).Draw(t, "count")
			}
			for part := range count {
				finer = append(finer, append(append([]int{}, path...), part))
			}
		}
		r.paths = finer
	}
	return r
}

// levels is N: the machine counts, the leaves do not.
func (r reference) levels() int { return len(r.names) }

// within is the path to the element of level i that holds rank p.
func (r reference) within(p, i int) string { return fmt.Sprint(r.paths[p][:i-1]) }

// element counts the changes of element up to rank p.
func (r reference) element(p, i int) int {
	j := 0
	for q := 1; q <= p; q++ {
		if r.within(q, i) != r.within(q-1, i) {
			j++
		}
	}
	return j
}

// common is the last level in which a and b have the same element.
func (r reference) common(a, b int) int {
	if a == b {
		return r.levels() + 1
	}
	finest := 0
	for i := 1; i <= r.levels(); i++ {
		if r.within(a, i) == r.within(b, i) {
			finest = i
		}
	}
	return finest
}

// text describes the tree with one count for each element, not abbreviated.
func (r reference) text() string {
	var words []string
	for depth, name := range r.names {
		var counts []string
		for p := range r.paths {
			last := p+1 == len(r.paths) || fmt.Sprint(r.paths[p+1][:depth]) != fmt.Sprint(r.paths[p][:depth])
			if last { // the last part of its element has the highest number
				counts = append(counts, fmt.Sprint(r.paths[p][depth]+1))
			}
		}
		words = append(words, name+":"+strings.Join(counts, "+"))
	}
	return strings.Join(words, " ")
}

func (r reference) tree(t interface{ Fatal(...any) }) *Tree {
	tree, err := Parse(r.text())
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// sameAs checks every answer of a tree against the reference.
func (r reference) sameAs(t *rapid.T, tree *Tree) {
	if tree.Ranks() != len(r.paths) || tree.Levels() != r.levels() {
		t.Fatalf("%d ranks and %d levels, want %d and %d", tree.Ranks(), tree.Levels(), len(r.paths), r.levels())
	}
	for i := 1; i <= r.levels(); i++ {
		if name := tree.LevelName(i + 1); name != r.names[i-1] {
			t.Fatalf("level %d is %s, want %s", i+1, name, r.names[i-1])
		}
		members := map[int][]Rank{}
		for p := range r.paths {
			j := r.element(p, i)
			members[j] = append(members[j], Rank(p))
			if tree.Element(Rank(p), i) != j {
				t.Fatalf("e(%d, %d) = %d, want %d", p, i, tree.Element(Rank(p), i), j)
			}
		}
		if tree.Elements(i) != len(members) {
			t.Fatalf("%d elements in level %d, want %d", tree.Elements(i), i, len(members))
		}
		for j, want := range members {
			if first, n := tree.Members(i, j); first != want[0] || n != len(want) || tree.TailRank(i, j) != first {
				t.Fatalf("element %d of level %d is %d ranks from %d with tail on %d, want %v",
					j, i, n, first, tree.TailRank(i, j), want)
			}
		}
	}
	for a := range r.paths {
		for b := range r.paths {
			if got, want := tree.Common(Rank(a), Rank(b)), r.common(a, b); got != want {
				t.Fatalf("Common(%d, %d) = %d, want %d", a, b, got, want)
			}
		}
	}
	checkInvariants(t, tree)
}

// checkInvariants asserts the invariants of the package documentation.
func checkInvariants(t interface{ Fatalf(string, ...any) }, tree *Tree) {
	if tree.Elements(1) != 1 || tree.LevelName(1) != "machine" {
		t.Fatalf("%s: level 1 is %d of %s", tree, tree.Elements(1), tree.LevelName(1))
	}
	for i := 1; i <= tree.Levels(); i++ {
		if grain(tree.LevelName(i)) >= grain(tree.LevelName(i+1)) {
			t.Fatalf("%s: %s is not coarser than %s", tree, tree.LevelName(i), tree.LevelName(i+1))
		}
		end := Rank(0)
		for j := range tree.Elements(i) {
			first, n := tree.Members(i, j)
			if first != end || n < 1 {
				t.Fatalf("%s: element %d of level %d has %d ranks from %d, the one before ends at %d", tree, j, i, n, first, end)
			}
			end = first + Rank(n)
			if i > 1 && tree.Element(first, i-1) != tree.Element(end-1, i-1) {
				t.Fatalf("%s: element %d of level %d lies in two elements of the level above", tree, j, i)
			}
		}
		if int(end) != tree.Ranks() {
			t.Fatalf("%s: level %d ends at rank %d of %d", tree, i, end, tree.Ranks())
		}
	}
}

func mustParse(t testing.TB, text string) *Tree {
	t.Helper()
	tree, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}
