package invariant

import "fmt"

// Violation is the value that Check panics with: a broken invariant, in words.
type Violation string

func (v Violation) Error() string { return "invariant violated: " + string(v) }

// Check panics with a Violation, formatted as by fmt.Sprintf, if asserts are on
// and cond is false.
//
// The compiler inlines Check, so a call leaves no code where Enabled is false.
func Check(cond bool, format string, args ...any) {
	if Enabled && !cond {
		panic(Violation(fmt.Sprintf(format, args...)))
	}
}
