package rings

import (
	"flag"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// Ring is how much is checked.
type Ring int

const (
	User Ring = iota
	Change
	Night
)

// The variables that choose.
const (
	Variable = "ORWL_RING"   // change or night; not set: what users run
	Share    = "ORWL_SHARE"  // K/N: the share of all seeds that a change plays
	Repeats  = "ORWL_REPEAT" // any text: this run repeats another one, under another schedule
	Alone    = "ORWL_ALONE"  // any text: nothing else runs on this machine
	Sample   = "ORWL_SAMPLE" // any text: this run has the race detector, and takes a sample
)

var names = [...]string{"", "change", "night"}

func (r Ring) String() string { return names[r] }

// Now is the ring of this run.
func Now() Ring {
	text := os.Getenv(Variable)
	for r, name := range names {
		if name == text {
			return Ring(r)
		}
	}
	panic(fmt.Sprintf("%s is %q: want change, night or nothing", Variable, text))
}

// Needs skips a test in the rings inside r.
func Needs(t testing.TB, r Ring) {
	t.Helper()
	if Now() < r {
		t.Skipf("this test takes long, or starts the go command: %s=%s runs it", Variable, r)
	}
}

// Of is the value for this ring.
func Of[T any](user, change, night T) T { return [...]T{user, change, night}[Now()] }

// Repeated reports whether this run only repeats what does not depend on schedules: it has the
// race detector, or Repeats is set.
func Repeated() bool { return Race || os.Getenv(Repeats) != "" }

// Computes skips a test that computes the same in every run, if this run only repeats it.
func Computes(t testing.TB) {
	t.Helper()
	if Repeated() {
		t.Skip("-race or " + Repeats + ": this test computes the same without")
	}
}

// Silence skips a test of real silence, unless nothing else runs on this machine: it stops
// processes or cuts links for longer than a lease, and a machine that is too busy to run the
// others looks the same. The gate silence runs these tests, and only these.
func Silence(t testing.TB) {
	t.Helper()
	if os.Getenv(Alone) == "" {
		t.Skipf("this test is about real silence, and runs where nothing else does: %s=1", Alone)
	}
}

// Sampled reports whether this run takes a sample: a test that plays many cases of one kind plays
// fewer of them. Only gate race of a change does so. Users and the nightly play all.
func Sampled() bool { return os.Getenv(Sample) != "" }

// Sampling is few in a run that takes a sample, and all in any other.
func Sampling[T any](all, few T) T {
	if Sampled() {
		return few
	}
	return all
}

// Costly skips a test in a run that takes a sample. The test takes long with the race detector, and
// other tests start the same goroutines, or its work is done by one goroutine, or by programs that
// other tests start, too.
func Costly(t testing.TB) {
	t.Helper()
	if Sampled() {
		t.Skip(Sample + ": this test takes long with the race detector, and the nightly runs it so")
	}
}

// FewChecks lets the tests by rapid of a package play fewer cases in a run that takes a sample. An init
// function of the package's tests calls it.
func FewChecks() {
	if !Sampled() {
		return
	}
	if err := flag.Set("rapid.checks", "20"); err != nil {
		panic(err)
	}
}

// Source tells Go's cache of results that the result of this test depends on the whole module. A
// test that starts the go command calls it, because the cache sees what the test looks at, and not
// what its children read.
func Source(t testing.TB) {
	t.Helper()
	root, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for above := filepath.Dir(root); ; above = filepath.Dir(above) {
		if _, err := os.Stat(filepath.Join(above, "go.mod")); err == nil {
			root = above
		}
		if above == filepath.Dir(above) {
			break
		}
	}
	err = filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil: // it has gone meanwhile
			return nil
		case d.IsDir() && name != root && strings.HasPrefix(d.Name(), "."):
			return fs.SkipDir
		}
		_, _ = os.Stat(name)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Budget is how much an exploration plays. A flag overrides what the ring says.
type Budget struct {
	rings [3]int
	given int
	set   bool
}

// Size registers a flag with a budget for each ring.
func Size(name string, user, change, night int, usage string) *Budget {
	b := &Budget{rings: [3]int{user, change, night}}
	flag.Var(b, name, usage+b.defaults())
	return b
}

// N is the budget in this ring, or what the flag says.
func (b *Budget) N() int {
	if b.set {
		return b.given
	}
	return b.rings[Now()]
}

// Set is called by package flag.
func (b *Budget) Set(text string) (err error) {
	b.given, err = strconv.Atoi(text)
	b.set = err == nil
	return err
}

// String is called by package flag, also for the zero value.
func (b *Budget) String() string {
	if b.set {
		return strconv.Itoa(b.given)
	}
	return ""
}

func (b *Budget) defaults() string {
	return fmt.Sprintf(" (%d, in CI %d, in the nightly %d)", b.rings[User], b.rings[Change], b.rings[Night])
}

// Range is which seeds an exploration plays.
type Range struct {
	few, all int
	first, n int
	set      bool
}

// Seeds registers a flag with the seeds that users play and those that the nightly plays. Its
// text is a number of seeds, or FIRST+NUMBER.
func Seeds(name string, few, all int, usage string) *Range {
	if few > all {
		panic(fmt.Sprintf("%s: %d seeds for users, and %d for all", name, few, all))
	}
	r := &Range{few: few, all: all}
	flag.Var(r, name, fmt.Sprintf("%s (%d, in the nightly %d, in CI a share of them)", usage, few, all))
	return r
}

// Span is the first seed and how many there are.
func (r *Range) Span() (first uint64, n int) {
	switch {
	case r.set:
		return uint64(r.first), r.n
	case Now() == User:
		return 0, r.few
	case Now() == Night:
		return 0, r.all
	}
	first, n = share(r.all)
	return first, max(n, 1)
}

// All are the seeds.
func (r *Range) All() iter.Seq[uint64] { return r.Part(1, 1) }

// Part are n/d of the seeds, but at least one.
func (r *Range) Part(n, d int) iter.Seq[uint64] {
	first, all := r.Span()
	return func(yield func(uint64) bool) {
		for i := range uint64(max(1, all*n/d)) {
			if !yield(first + i) {
				return
			}
		}
	}
}

// Takes reports whether this run plays case i of many that are searched as a whole. A change plays one of n cases, and which one
// follows from its share: where n divides the number of shares, all changes together play all cases. Users and the nightly play all.
func Takes(i, n int) bool {
	k, _ := turn()
	return Now() != Change || i%n == k%n
}

// share is the part of all seeds that this change plays.
func share(all int) (first uint64, n int) {
	k, of := turn()
	begin, end := all*k/of, all*(k+1)/of
	return uint64(begin), end - begin
}

// turn is what ORWL_SHARE says: this is share k of so many.
func turn() (k, of int) {
	k, of = 0, 16
	if text := os.Getenv(Share); text != "" {
		if _, err := fmt.Sscanf(text, "%d/%d", &k, &of); err != nil || k < 0 || of < 1 || k >= of {
			panic(fmt.Sprintf("%s is %q: want K/N, such as 3/16, with K below N", Share, text))
		}
	}
	return k, of
}

// Set is called by package flag.
func (r *Range) Set(text string) error {
	if _, err := fmt.Sscanf(text, "%d+%d", &r.first, &r.n); err != nil {
		r.first = 0
		if r.n, err = strconv.Atoi(text); err != nil {
			return fmt.Errorf("want a number of seeds, or FIRST+NUMBER")
		}
	}
	if r.set = r.first >= 0 && r.n >= 0; !r.set {
		return fmt.Errorf("want no negative number")
	}
	return nil
}

// String is called by package flag, also for the zero value.
func (r *Range) String() string {
	if !r.set {
		return ""
	}
	return fmt.Sprintf("%d+%d", r.first, r.n)
}
