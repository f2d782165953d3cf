package mutants

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/orwl/go-orwl/internal/rings"
)

// recorder is a test that notes its errors.
type recorder struct {
	testing.TB
	errors []string
}

func (r *recorder) Fatalf(format string, args ...any) { r.Errorf(format, args...) }

func (r *recorder) Errorf(format string, args ...any) {
	r.errors = append(r.errors, fmt.Sprintf(format, args...))
}

// specimen is a plan for the package in testdata.
func specimen(page string) *Plan {
	return &Plan{
		Files: []File{{Name: "specimen.go", Tests: "TestLarger|TestWait"}},
		Rules: Rules{
			Spares:   func(string, string) bool { return false },
			Computes: func(string) bool { return false },
		},
		Stages: []Stage{{Name: "tests", Tests: "^(%s)$", Limit: 10 * time.Second}},
		Page:   page,
	}
}

// A survivor without a row and a row without a mutant are errors, and nothing else is.
func TestRunReports(t *testing.T) {
	rings.Needs(t, rings.Change) // it builds a test binary
	t.Chdir("testdata/specimen")
	for page, want := range map[string][]string{
		"explained.md": nil,
		"outdated.md": {
			`outdated.md explains "specimen.go Smaller: a < b: off by one", and there is no such mutant any more`,
			`specimen.go:15: the mutant "specimen.go Wait: n < 0: never" survives: add a test, or explain it in outdated.md`,
		},
	} {
		r := &recorder{TB: t}
		specimen(page).Run(r, Trial{Stages: 1})
		if !slices.Equal(r.errors, want) {
			t.Errorf("%s: got %q, want %q", page, r.errors, want)
		}
	}
}

// Of the mutants of the specimen, one is equivalent, and others wait for ever or fail.
func TestJudge(t *testing.T) {
	rings.Needs(t, rings.Change) // it builds a test binary
	t.Chdir("testdata/specimen")
	p := specimen("explained.md")
	l, overlay := newLaboratory(t, p)
	l.build(t, overlay)
	for name, want := range map[string]verdict{
		"specimen.go Larger: a > b: never":      {stage: "tests", test: "TestLarger", says: "of 2 and 1: 1"},
		"specimen.go Larger: a > b: always":     {stage: "tests", test: "TestLarger", says: "of 1 and 2: 1"},
		"specimen.go Larger: a > b: off by one": {stage: "tests", survived: true},
	} {
		if got, out := l.judge(l.number(name), p.Stages); got != want {
			t.Errorf("%s: got %+v, want %+v\n%s", name, got, want, out)
		}
	}
	stages, slow := p.Stages, slices.Clone(p.Stages)
	slow[0].Limit = time.Nanosecond
	if v, _ := l.try(1, "TestLarger", slow[0]); !v.hung || v.survived {
		t.Errorf("without time: %+v", v)
	}
	for limit, want := range map[time.Duration]bool{time.Nanosecond: true, time.Hour: false} {
		s := slow[0]
		if s.Limit = limit; l.slow("TestLarger", &s) != want || (s.Limit > limit) != want {
			t.Errorf("a stage with a limit of %v gets %v", limit, s.Limit)
		}
	}
	l.Stages = slow
	if v, out := l.sound(); !v.survived {
		t.Errorf("without a mistake, and without time for mutants: %+v\n%s", v, out)
	}
	l.Stages = stages
	r := &recorder{TB: t}
	l.Telling = []string{"specimen.go Larger: a > b: never", "specimen.go Larger: a > b: off by one"}
	if l.tryTelling(r); len(r.errors) != 1 || !strings.Contains(r.errors[0], "survives") {
		t.Errorf("the telling mutants: %q", r.errors)
	}
}

// One change of four tries the telling mutants of a plan. The nightly tries them, too. Each change sees that they exist.
func TestTurn(t *testing.T) {
	rings.Needs(t, rings.Change) // it builds a test binary
	t.Chdir("testdata/specimen")
	p := specimen("explained.md")
	p.Telling, p.Turn = []string{"specimen.go Larger: a > b: off by one", "no such mutant"}, 1
	for ring, want := range map[string][]int{"change": {1, 2, 1, 1, 1, 2}, "night": {2}} {
		t.Setenv(rings.Variable, ring)
		for share, errors := range want {
			t.Setenv(rings.Share, fmt.Sprintf("%d/16", share))
			r := &recorder{TB: t}
			if p.Run(r, Trial{}); len(r.errors) != errors {
				t.Errorf("in ring %q share %d says %q, want %d errors", ring, share, r.errors, errors)
			}
		}
	}
}

// Each change compiles all mutants, and the tests of the package with them.
func TestEachChangeCompiles(t *testing.T) {
	rings.Needs(t, rings.Change) // it compiles a package
	t.Chdir("testdata/specimen")
	t.Setenv(rings.Variable, "change")
	t.Setenv(rings.Share, "0/16")
	for file, text := range map[string]string{"specimen.go": "package specimen", "specimen_test.go": "package specimen\n\nvar Larger = 0\n"} {
		p := specimen("")
		p.Turn, p.Replace = 1, map[string]string{file: text}
		r := &recorder{TB: t}
		if p.Run(r, Trial{}); len(r.errors) != 1 || !strings.Contains(r.errors[0], "do not build") {
			t.Errorf("with a bad %s it says %q", file, r.errors)
		}
	}
}

// The tests of a mutant do not see the ring.
func TestWithoutRing(t *testing.T) {
	t.Setenv(rings.Variable, "night")
	t.Setenv(rings.Share, "3/16")
	t.Setenv(rings.Repeats, "1")
	t.Setenv(rings.Alone, "1")
	t.Setenv("ORWL_OTHER", "kept")
	left := withoutRing()
	for _, name := range []string{rings.Variable, rings.Share, rings.Repeats, rings.Alone} {
		if slices.ContainsFunc(left, func(entry string) bool { return strings.HasPrefix(entry, name+"=") }) {
			t.Errorf("a mutant's tests see %s", name)
		}
	}
	if !slices.Contains(left, "ORWL_OTHER=kept") {
		t.Error("a mutant's tests see no other variable")
	}
}
