package orwl

import (
	"cmp"
	"fmt"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"github.com/orwl/go-orwl/orwl/inspect"
)

// Where a body is stands in the stack of its goroutine. The stack also has the method of this package that has called the
// body, with the address of its step or task:
//
//	goroutine 37 [chan receive, 2 minutes]:
//	main.relax(...)
//		/home/ann/halo.go:42 +0x45
//	...
//	github.com/orwl/go-orwl/orwl.(*step).call(0xc0000b2000)

const (
	mostStacks  = 4 << 20 // bytes of stacks that are read
	mostLocated = 32      // bodies that are looked for, those that have stood still for longest
)

// locate says where the bodies of working tasks are. It stops the process for a moment.
func (rt *Runtime) locate(s *inspect.State) {
	var working []*inspect.TaskState
	for i := range s.Tasks {
		if t := &s.Tasks[i]; t.State == inspect.TaskWorking {
			working = append(working, t)
		}
	}
	if len(working) == 0 {
		return
	}
	slices.SortStableFunc(working, func(a, b *inspect.TaskState) int { return cmp.Compare(b.For.Duration, a.For.Duration) })
	rt.mu.Lock()
	tasks := make(map[string]*Task, len(rt.tasks))
	for _, t := range rt.tasks {
		tasks[t.name] = t
	}
	rt.mu.Unlock()
	stacks := allStacks()
	for _, seen := range working[:min(len(working), mostLocated)] {
		t := tasks[seen.Task]
		if t == nil {
			continue
		}
		marks := []string{fmt.Sprintf("orwl.(*Task).live(%p", t)}
		if t.step != nil {
			marks = []string{fmt.Sprintf("orwl.(*step).call(%p", t.step), fmt.Sprintf("orwl.(*step).planned(%p", t.step)}
		}
		for _, stack := range stacks {
			if slices.ContainsFunc(marks, func(m string) bool { return strings.Contains(stack, m) }) {
				seen.At = position(stack)
				break
			}
		}
	}
}

// allStacks are the stacks of all goroutines.
func allStacks() []string {
	b := make([]byte, 64<<10)
	for {
		n := runtime.Stack(b, true)
		if n < len(b) || len(b) >= mostStacks {
			return strings.Split(string(b[:n]), "\n\n")
		}
		b = make([]byte, 4*len(b))
	}
}

var ours = regexp.MustCompile(`^github\.com/orwl/go-orwl/(internal|resource|handle|locks|net)\b`)

// position is where a stack is: its first function that is not Go's own, nor of a package below this one, and what its goroutine waits for.
func position(stack string) string {
	lines := strings.Split(stack, "\n")
	_, state, _ := strings.Cut(lines[0], "[")
	state, _, _ = strings.Cut(state, "]")
	for i := 1; i+1 < len(lines); i += 2 {
		name := lines[i]
		if at := strings.LastIndex(name, "("); at > 0 {
			name = name[:at]
		}
		path, _, _ := strings.Cut(name, ".")
		first, _, deep := strings.Cut(name, "/")
		if ours.MatchString(name) || path != "main" && (!deep || !strings.Contains(first, ".")) {
			continue // a package of Go, or one below this
		}
		name = name[strings.LastIndex(name, "/")+1:]
		file, _, _ := strings.Cut(strings.TrimSpace(lines[i+1]), " ")
		return fmt.Sprintf("%s (%s, %s)", name, filepath.Base(file), state)
	}
	return ""
}
