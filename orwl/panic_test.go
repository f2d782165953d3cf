package orwl

import (
	"errors"
	"fmt"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// The first line of a panic names the task, the round and the line of the body, even if the body panics inside a
// function of Go or of this library.
func TestPanicLine(t *testing.T) {
	at := 0
	none := func() map[int]int { return nil }()
	line := func() { _, _, at, _ = runtime.Caller(1) }
	for name, fail := range map[string]func(a *Access){
		"a panic":              func(*Access) { line(); panic("boom") },
		"a nil map":            func(*Access) { line(); none[1] = 1 },
		"a nil pointer":        func(*Access) { line(); *(*int)(nil) = 1 },
		"an index":             func(a *Access) { line(); Read[uint64](a).At(1) },
		"a function of Go":     func(*Access) { line(); _ = strings.Repeat("x", -1) },
		"a panic in its defer": func(*Access) { defer func() { line(); panic("boom") }(); panic(1) },
	} {
		rt := mustNew(t, Options{})
		task := rt.Task("culprit")
		a := task.Write(rt.Resource("r", 8))
		task.Each(5, func(round int) error {
			if round == 3 {
				fail(a)
			}
			return nil
		})
		err := rt.Run(t.Context())
		var p *panicError
		if !errors.As(err, &p) {
			t.Errorf("%s: %v, want a *panicError", name, err)
			continue
		}
		first, stack, _ := strings.Cut(err.Error(), "\n")
		want := fmt.Sprintf(`^orwl: task "culprit": panic in round 3 at \S*panic_test\.go:%d: .`, at)
		if !regexp.MustCompile(want).MatchString(first) {
			t.Errorf("%s: %s, want %s", name, first, want)
		}
		if !strings.HasPrefix(stack, "goroutine ") {
			t.Errorf("%s has no stack", name)
		}
	}
}
