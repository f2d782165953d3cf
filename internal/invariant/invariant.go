package invariant

import (
	"fmt"
	"sync"
)

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

// states counts how often each rare state was reached.
var states struct {
	mu      sync.Mutex
	reached map[string]int
}

// Sometimes counts that the code reached a rare state, if asserts are on and cond is true. A
// test that plays seeds asks Reached for the states that some seed must reach.
//
// The compiler inlines Sometimes, so a call leaves no code where Enabled is false.
func Sometimes(cond bool, state string) {
	if Enabled && cond {
		count(state)
	}
}

func count(state string) {
	states.mu.Lock()
	defer states.mu.Unlock()
	if states.reached == nil {
		states.reached = make(map[string]int)
	}
	states.reached[state]++
}

// Reached is how often each state was reached since the last call.
func Reached() map[string]int {
	states.mu.Lock()
	defer states.mu.Unlock()
	reached := states.reached
	states.reached = nil
	return reached
}
