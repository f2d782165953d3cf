package topology

import (
	"fmt"
	"iter"
	"math"
	"strings"

	"github.com/orwl/go-orwl/internal/excerpt"
)

// Rank is one place of execution, 0..P-1. It is a leaf of a Tree.
type Rank int

// MaxRanks limits the ranks of a Tree. No run needs as many, and a typing error
// in a description cannot use up the memory.
const MaxRanks = 1 << 20

// Tree is a machine with ranks as its leaves. Make one with Flat, Parse, FromCPUs
// or host.Detect; the zero Tree has no levels and does not work. A Tree is
// immutable: copy the pointer, and use it from any number of goroutines.
type Tree struct {
	levels []level // levels[i-1] is level i
	ranks  int
	leaf   string // the name of a leaf
	cpus   []int  // by rank; nil if the CPUs are not known
}

// level holds the elements of one level. Locks ask in both directions in every
// operation, and elements may differ in size, so each direction has a table.
type level struct {
	name      string
	elementOf []int32 // by rank
	first     []Rank  // by element; the last entry is the number of ranks
}

// levelNames lists all names of levels, from coarse to fine.
var levelNames = [...]string{
	"machine", "group", "rack", "node", "socket", "numa", "cache", "core", "thread", "rank",
}

// grain returns the index of a name in levelNames, or -1. A finer level has a
// larger grain.
func grain(name string) int {
	for i, known := range levelNames {
		if name == known {
			return i
		}
	}
	return -1
}

// Ranks returns P, the number of leaves.
func (t *Tree) Ranks() int { return t.ranks }

// Levels returns N, the number of levels.
func (t *Tree) Levels() int { return len(t.levels) }

// LevelName returns the name of level i, 1..N. For N+1 it returns the name of the
// leaves, so that every result of Common has a name. It panics for any other i.
func (t *Tree) LevelName(i int) string {
	if i == len(t.levels)+1 {
		return t.leaf
	}
	return t.level("LevelName", i).name
}

// Elements returns N_i, the number of elements of level i. It panics unless i is
// 1..N.
func (t *Tree) Elements(i int) int { return t.level("Elements", i).elements() }

// CPU returns the CPU of rank p, as the operating system of p's node numbers it.
// ok is false if the tree has no CPU numbers. It panics unless p is a rank.
func (t *Tree) CPU(p Rank) (cpu int, ok bool) {
	t.checkRank("CPU", p)
	if t.cpus == nil {
		return 0, false
	}
	return t.cpus[p], true
}

func (l *level) elements() int { return len(l.first) - 1 }

// level returns level i. It panics with the method's name if there is no such
// level.
func (t *Tree) level(method string, i int) *level {
	if uint(i-1) >= uint(len(t.levels)) {
		panic(&RangeError{Method: method, What: "level", Value: i, Low: 1, High: len(t.levels)})
	}
	return &t.levels[i-1]
}

// children returns the elements of level i+1 inside element j of level i, or its
// ranks if i is N, as a half-open interval.
func (t *Tree) children(i, j int) (from, to int) {
	first, last := t.levels[i-1].first[j], t.levels[i-1].first[j+1]-1
	if i == len(t.levels) {
		return int(first), int(last) + 1
	}
	finer := t.levels[i].elementOf
	return int(finer[first]), int(finer[last]) + 1
}

// Locks call these methods in every operation. None of them allocates. Each takes
// constant time, except Common, which looks at each level at most once.

// Element returns e(p, i), the element of level i that holds rank p (§3.2.2). It
// is one of 0..Elements(i)-1. Element panics unless p is a rank and i is 1..N.
func (t *Tree) Element(p Rank, i int) int {
	if uint(i-1) >= uint(len(t.levels)) || uint(p) >= uint(t.ranks) {
		t.refuse("Element", p, i)
	}
	return int(t.levels[i-1].elementOf[p])
}

// TailRank returns tail_rank[i, j], the rank that stores the tail of the queue of
// element j of level i (§3.2.3). It panics unless i is 1..N and j an element.
//
// TailRank is the first rank of the element. Every member can compute it from the
// tree alone, and reaches the tail without leaving the element. The price: rank 0
// stores a tail for every level.
func (t *Tree) TailRank(i, j int) Rank {
	if uint(i-1) >= uint(len(t.levels)) || uint(j) >= uint(t.levels[i-1].elements()) {
		t.refuseElement("TailRank", i, j)
	}
	return t.levels[i-1].first[j]
}

// Members returns the ranks of element j of level i: first to first+n-1. It
// panics unless i is 1..N and j an element.
func (t *Tree) Members(i, j int) (first Rank, n int) {
	if uint(i-1) >= uint(len(t.levels)) || uint(j) >= uint(t.levels[i-1].elements()) {
		t.refuseElement("Members", i, j)
	}
	bounds := t.levels[i-1].first
	return bounds[j], int(bounds[j+1] - bounds[j])
}

// Common returns the finest level at which a and b share an element: N if they
// share one of the finest elements, 1 if they share only the machine, and N+1 if
// a equals b. It panics unless both are ranks.
func (t *Tree) Common(a, b Rank) int {
	if uint(a) >= uint(t.ranks) || uint(b) >= uint(t.ranks) {
		t.checkRank("Common", a)
		t.checkRank("Common", b)
	}
	i := len(t.levels)
	if a == b {
		return i + 1
	}
	for i > 1 && t.levels[i-1].elementOf[a] != t.levels[i-1].elementOf[b] {
		i--
	}
	return i
}

// Counter returns c(p), the rank that stores the physical counter of rank p if
// every tdc-th rank stores one (§3.2.1). Ranks count from 0, so this is p - p%tdc.
// If tdc is k times the ranks of a node, every k-th node has a counter. Counter
// panics unless p is a rank and tdc at least 1.
func (t *Tree) Counter(p Rank, tdc int) Rank {
	if tdc < 1 || uint(p) >= uint(t.ranks) {
		t.checkInterval("Counter", tdc)
		t.checkRank("Counter", p)
	}
	return p - p%Rank(tdc)
}

// Counters yields every rank that stores a physical counter, in ascending order. A
// writer visits all of them. It panics unless tdc is at least 1.
func (t *Tree) Counters(tdc int) iter.Seq[Rank] {
	t.checkInterval("Counters", tdc)
	return func(yield func(Rank) bool) {
		for p := Rank(0); int(p) < t.ranks; p += Rank(tdc) {
			if !yield(p) {
				return
			}
		}
	}
}

// checkInterval has no upper bound: if tdc exceeds P, all ranks share one counter.
func (t *Tree) checkInterval(method string, tdc int) {
	if tdc < 1 {
		panic(&RangeError{Method: method, What: "tdc", Value: tdc, Low: 1, High: unbounded})
	}
}

// refuse panics because a level or a rank is out of range. It is a separate
// function so that Element is small and fast.
func (t *Tree) refuse(method string, p Rank, i int) {
	t.level(method, i)
	t.checkRank(method, p)
}

func (t *Tree) refuseElement(method string, i, j int) {
	high := t.level(method, i).elements() - 1
	panic(&RangeError{Method: method, What: "element of level " + t.levels[i-1].name, Value: j, High: high})
}

func (t *Tree) checkRank(method string, p Rank) {
	if uint(p) >= uint(t.ranks) {
		panic(&RangeError{Method: method, What: "rank", Value: int(p), High: t.ranks - 1})
	}
}

// unbounded is the High of a range without an upper end.
const unbounded = math.MaxInt

// RangeError reports a rank, level, element or count out of range. WithRanks and
// Spread return it; all other methods and functions panic with it.
type RangeError struct {
	Method    string // the method or function that was called
	What      string // the argument, as in "rank"
	Value     int
	Low, High int // the allowed range, both ends included
}

func (e *RangeError) Error() string {
	allowed := fmt.Sprintf("%d..%d", e.Low, e.High)
	if e.High == unbounded {
		allowed = fmt.Sprintf("%d or more", e.Low)
	}
	return fmt.Sprintf("topology: %s: %s is %d: give %s", e.Method, e.What, e.Value, allowed)
}

// ParseError reports a description that Parse or Under cannot read. Its message
// shows the description and points at the bad part:
//
//	topology: unknown level "noed", did you mean "node"?
//		rack:2 noed:4 core:8
//		       ^~~~
//		allowed: machine, group, rack, node, ...
type ParseError struct {
	Text    string // the whole description
	Offset  int    // of the bad part in Text, in bytes
	Word    string // the bad part; empty if something is missing there
	Reason  string
	Allowed string // the alternatives
}

func (e *ParseError) Error() string {
	line, mark := excerpt.Of(e.Text, e.Offset, e.Word)
	return fmt.Sprintf("topology: %s\n\t%s\n\t%s\n\tallowed: %s", e.Reason, line, mark, e.Allowed)
}

// finerThan lists the levels that are finer than the given grain.
func finerThan(grain int) string {
	if grain == len(levelNames)-1 {
		return "no further level: " + levelNames[grain] + " is the finest"
	}
	return strings.Join(levelNames[grain+1:], ", ")
}

// coarserThan lists the levels that are coarser than the given grain, without the
// machine.
func coarserThan(grain int) string {
	if grain <= 1 {
		return "no level: " + levelNames[1] + " is the coarsest"
	}
	return strings.Join(levelNames[1:grain], ", ")
}

// nearestName returns the level name that is most like a misspelt one, or an empty
// string if none is similar.
func nearestName(name string) string {
	if len(name) > 2*len(levelNames[0]) {
		return ""
	}
	name = strings.ToLower(name)
	nearest, least := "", (len(name)+1)/2+1
	for _, known := range levelNames {
		if d := editDistance(name, known); d < least {
			nearest, least = known, d
		}
	}
	return nearest
}

// editDistance returns the Levenshtein distance of a and b: how many letters to
// insert, delete or exchange. It keeps one row of the table at a time.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			exchange := diagonal
			if a[i] != b[j] {
				exchange++
			}
			diagonal = row[j+1]
			row[j+1] = min(exchange, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
