package rings

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
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
