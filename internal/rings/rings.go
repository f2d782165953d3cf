package rings

import (
	"fmt"
	"os"
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
