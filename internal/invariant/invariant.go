package invariant

import "fmt"

// Violation is what Check panics with: a broken invariant, in words.
type Violation string

func (v Violation) Error() string { return "invariant violated: " + string(v) }

// Check panics with a Violation, formatted as by fmt.Sprintf, if asserts are on
// and cond is false.
//
// It is small enough to be inlined, so that where Enabled is false nothing of a
// call is left.
func Check(cond bool, format string, args ...any) {
	if Enabled && !cond {
		panic(Violation(fmt.Sprintf(format, args...)))
	}
}
