package liveness

import (
	"errors"
	"io"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"

	"github.com/orwl/go-orwl/resource"
)

func TestOrder(t *testing.T) {
	for text, want := range map[string][]First{
		"":        {},
		"task t:": {},
		"task s: write a, read b; task t: read b, write c":         {{0, 0}, {0, 1}, {1, 0}, {1, 1}},
		"task s: write a, read b; task t: read b, write c @-1":     {{1, 1}, {0, 0}, {0, 1}, {1, 0}},
		"task s: write a @3, read b @2; task t: read b @2, read c": {{1, 1}, {0, 1}, {1, 0}, {0, 0}},
		"task s: write a @-1; task t: write a":                     {{0, 0}, {1, 0}},
		"task s: write a; task t: write a @-1":                     {{1, 0}, {0, 0}},
	} {
		if got := system(t, text).Order(); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
}

// A stable sort by priority gives the same order, also for the largest differences.
func TestOrderIsStable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSystem(t, rapid.OneOf(rapid.IntRange(-1, 1), rapid.SampledFrom([]int{math.MinInt, math.MaxInt})))
		var want []First
		for task := range s.Tasks {
			for a := range s.Tasks[task].Accesses {
				want = append(want, First{Task: task, Access: a})
			}
		}
		slices.SortStableFunc(want, func(x, y First) int {
			switch a, b := s.access(x).Priority, s.access(y).Priority; {
			case a < b:
				return -1
			case a > b:
				return 1
			}
			return 0
		})
		if got := s.Order(); !slices.Equal(got, want) {
			t.Fatalf("%v, want %v", got, want)
		}
	})
}

func TestParseSystem(t *testing.T) {
	access := func(name string, m resource.Mode, priority int) Access {
		return Access{Resource: name, Mode: m, Priority: priority}
	}
	want := System{[]Task{
		{Name: "row1", Accesses: []Access{access("a", resource.Write, 0), access("b", resource.Read, 0)}},
		{Name: "row 2", Accesses: []Access{access("b", resource.Write, 7), access("a", resource.Read, -1)}},
		{Name: "task", Accesses: []Access{access("read", resource.Read, 0)}},
		{Name: "idle"},
	}}
	for _, text := range []string{
		`# rows of a matrix
task row1: write a, read b

task "row 2": write b @7, read a @-1   # it begins
task task: read read
task idle:`,
		"task row1:write a,read b\r\n\t task \"row 2\"\t:  write b@ +07 ,read\va@-1\r\n#\ntask task:read \"read\"#comment\ntask idle: # none",
	} {
		got, err := Parse(iotest.OneByteReader(strings.NewReader(text)))
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s:\n%v %v", text, got, err)
		}
	}
}

func TestSystemSyntaxErrors(t *testing.T) {
	const begin = "\n\tallowed: task NAME: read RESOURCE, write RESOURCE; or a comment after #"
	const name = "\n\tallowed: a name, quoted if it has spaces or any of : , @ # \""
	const more = "\n\tallowed: a comma and another access, @PRIORITY, a colon and the sequence, or the end of the line"
	for text, want := range map[string]string{
		"taks t: write a": `1, column 1: a line begins with task
	taks t: write a
	^~~~` + begin,
		"# one\n\n  : t": `3, column 3: a line begins with task
	  : t
	  ^` + begin,
		"task": `1, column 5: the task has no name
	task
	    ^` + name,
		"task : read a": `1, column 6: the task has no name
	task : read a
	     ^` + name,
		`task "": read a`: `1, column 6: the task has an empty name
	task "": read a
	     ^~
	allowed: at least one character`,
		`task "a: read b`: `1, column 6: the quoted name is malformed
	task "a: read b
	     ^~~~~~~~~~
	allowed: a name quoted as in Go, such as "row 1"`,
		"task a\xff: read b": `1, column 6: the name is not in UTF-8
	task a�: read b
	     ^~
	allowed: UTF-8, or a quoted name, as in "\xff"`,
		"task a:\ntask b:\ntask a: read c": `3, column 6: line 1 describes this task too
	task a: read c
	     ^
	allowed: a name that no other task has`,
		"task a read b": `1, column 8: the task's name ends here
	task a read b
	       ^~~~
	allowed: a colon, and the task's accesses`,
		"task a # : read b": `1, column 8: the task's name ends here
	task a # : read b
	       ^
	allowed: a colon, and the task's accesses`,
		"task zeile_ä: wriet a, read b": `1, column 15: an access begins with what it does
	task zeile_ä: wriet a, read b
	              ^~~~~
	allowed: read or write`,
		"task a: read b,": `1, column 16: an access begins with what it does
	task a: read b,
	               ^
	allowed: read or write`,
		"task a:\tread b, , read c": `1, column 17: an access begins with what it does
	task a: read b, , read c
	                ^
	allowed: read or write`,
		"task a: read": `1, column 13: the resource has no name
	task a: read
	            ^` + name,
		"task a: read, write b": `1, column 13: the resource has no name
	task a: read, write b
	            ^` + name,
		"task a: read b write c": `1, column 16: the access ends here
	task a: read b write c
	               ^~~~~` + more,
		"task a: read b @1 @2": `1, column 19: the access ends here
	task a: read b @1 @2
	                  ^` + more,
		"task a: read b: c": `1, column 17: a step begins with what it does
	task a: read b: c
	                ^
	allowed: acquire or release`,
		"task a: read b: acquire 1,": `1, column 27: a step begins with what it does
	task a: read b: acquire 1,
	                          ^
	allowed: acquire or release`,
		"task a: read b: acquire, release 1": `1, column 24: the step names no access
	task a: read b: acquire, release 1
	                       ^
	allowed: numbers from 1 to 1`,
		"task a: read b: acquire b": `1, column 25: the task has no such access
	task a: read b: acquire b
	                        ^
	allowed: a number from 1 to 1, a comma and another step, or the end of the line`,
		"task a: read b, read c: acquire 1 3": `1, column 35: the task has no such access
	task a: read b, read c: acquire 1 3
	                                  ^
	allowed: a number from 1 to 2, a comma and another step, or the end of the line`,
		"task a: read b: acquire 0": `1, column 25: the task has no such access
	task a: read b: acquire 0
	                        ^
	allowed: a number from 1 to 1, a comma and another step, or the end of the line`,
		"task a: read b: release 1": `1, column 25: access 1 is released before it is acquired
	task a: read b: release 1
	                        ^
	allowed: ` + onceEach,
		"task a: read b: acquire 1, acquire 1": `1, column 36: access 1 is acquired twice
	task a: read b: acquire 1, acquire 1
	                                   ^
	allowed: ` + onceEach,
		"task a: read b: acquire 1 # held": `1, column 27: access 1 is not released
	task a: read b: acquire 1 # held
	                          ^
	allowed: ` + onceEach,
		"task a: read b @": `1, column 17: @ is not followed by a priority
	task a: read b @
	                ^
	allowed: a whole number, as in @-1`,
		"task a: read b @1.5, read c": `1, column 17: @ is not followed by a priority
	task a: read b @1.5, read c
	                ^~~
	allowed: a whole number, as in @-1`,
		"task a: read b @99999999999999999999": `1, column 17: @ is not followed by a priority
	task a: read b @99999999999999999999
	                ^~~~~~~~~~~~~~~~~~~~
	allowed: a whole number, as in @-1`,
		"task \x01 b:\u2028": `1, column 8: the task's name ends here
	task � b: 
	       ^
	allowed: a colon, and the task's accesses`,
		strings.Repeat("ä", 60): "1, column 1: a line begins with task\n\t" + strings.Repeat("ä", 40) + "…\n\t^" + strings.Repeat("~", 40) + begin,
		"task a: read " + strings.Repeat("b, read ", 20) + strings.Repeat("c", 50) + " " + strings.Repeat("d", 90): "1, column 225: the access ends here\n\t…" + // the message cuts a long line on both sides
			strings.Repeat("c", 39) + " " + strings.Repeat("d", 40) + "…\n\t" + strings.Repeat(" ", 41) + "^" + strings.Repeat("~", 40) + more,
	} {
		s, err := Parse(strings.NewReader(text))
		var bad *SyntaxError
		if !errors.As(err, &bad) || s.Tasks != nil {
			t.Errorf("%q: %v and %v, want a *SyntaxError", text, s, err)
			continue
		}
		if want = "liveness: line " + want; err.Error() != want {
			t.Errorf("%q:\n%v\nwant\n%s", text, err, want)
		}
	}
}

// A failed read is not a SyntaxError. It names the line.
func TestParseSystemReadError(t *testing.T) {
	broken := errors.New("disk on fire")
	_, err := Parse(io.MultiReader(strings.NewReader("task a:\ntask b:\n"), iotest.ErrReader(broken)))
	if !errors.Is(err, broken) || err.Error() != "liveness: reading a system after line 2: disk on fire" {
		t.Error(err)
	}
}

func TestParseSystemLongLine(t *testing.T) {
	for length, want := range map[int]string{
		maxLine:     "",
		maxLine + 1: "liveness: line 2, column 1: the line is too long\n\t\n\t^\n\tallowed: up to 16777216 bytes",
	} {
		_, err := Parse(strings.NewReader("#\n#" + strings.Repeat("x", length-1)))
		if err == nil && want != "" || err != nil && err.Error() != want {
			t.Errorf("%d bytes: %v, want %q", length, err, want)
		}
	}
}

// checkIdentity parses the text of s and compares.
func checkIdentity(t interface{ Fatalf(string, ...any) }, s System) {
	again, err := Parse(strings.NewReader(s.String()))
	if err != nil {
		t.Fatalf("%v\nin its own text\n%s", err, s)
	}
	same := slices.EqualFunc(again.Tasks, s.Tasks, func(x, y Task) bool {
		return x.Name == y.Name && slices.Equal(x.Accesses, y.Accesses) && slices.EqualFunc(x.Sequence, y.Sequence, func(a, b Step) bool {
			return a.Op == b.Op && slices.Equal(a.Accesses, b.Accesses)
		})
	})
	if !same {
		t.Fatalf("%#v, want %#v, from\n%s", again, s, s)
	}
}

func TestParseStringIsIdentity(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { checkIdentity(t, drawSystem(t, rapid.Int())) })
}

func TestSystemString(t *testing.T) {
	const text = "task a: write b, read c @-1\ntask \"d e\": read \"\\xff\"\ntask f:\ntask g: read a, write b: acquire 2, release 2, acquire 1, release 1\n"
	if got := system(t, text).String(); got != text {
		t.Errorf("%s, want %s", got, text)
	}
}

func FuzzParseSystem(f *testing.F) {
	for _, text := range []string{"", "task a: write b, read c @-1\n# d\r\ntask \"e f\": read \"\\xff\"", "task a: read b @", "task a: read b, write c @1: acquire 2 1, release 1 2", "task a: read b: acquire 1,release", "task a\x00: write \u2028 b", "\xff", "task \"a", `task a\b: read c"d`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := Parse(strings.NewReader(text))
		var bad *SyntaxError
		if errors.As(err, &bad) {
			if got := bad.Text[bad.Offset:][:len(bad.Word)]; got != bad.Word || bad.Error() == "" {
				t.Errorf("word %q at %d of %q", bad.Word, bad.Offset, bad.Text)
			}
			if lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n"); strings.TrimSuffix(lines[bad.Line-1], "\r") != bad.Text {
				t.Errorf("line %d is %q, not %q", bad.Line, lines[bad.Line-1], bad.Text)
			}
			return
		} else if err != nil {
			t.Fatal(err)
		}
		checkIdentity(t, s)
		var deadlock *DeadlockError
		if err := s.Check(); err != nil && !errors.As(err, &deadlock) {
			t.Errorf("%v in what could be read", err)
		}
	})
}
