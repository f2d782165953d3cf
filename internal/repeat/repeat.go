package repeat

import (
	"os"
	"testing"
)

// Variable is set in the environment of a run that tests the same program once more.
const Variable = "ORWL_REPEAT"

// Skips reports whether this run only repeats what does not depend on schedules: it has the
// race detector, or Variable is set.
func Skips() bool { return Race || os.Getenv(Variable) != "" }

// Skip skips a test that computes the same in every run, if this run only repeats it.
func Skip(t testing.TB) {
	t.Helper()
	if Skips() {
		t.Skip("-race or " + Variable + ": this test computes the same without")
	}
}
