package locks_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// verdict is how the tests found a mutant.
type verdict struct {
	stage, test, says string
	hung, survived    bool
}

// laboratory has the test binary that contains all mutants.
type laboratory struct {
	binary  string
	mutants []mutant
	why     map[string]string // mutants that survive, by name
}

// newLaboratory mutates all files and builds the tests. It leaves out the tests with
// processes and nodes, whose packages take long to link.
func newLaboratory(t *testing.T) *laboratory {
	t.Helper()
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	l := &laboratory{binary: filepath.Join(folder, "locks.test")}
	overlay := map[string]string{
		filepath.Join(here, "switches.go"): filepath.Join(here, "testdata", "mutants", "switches.go"),
	}
	replace := func(file, text string) {
		with := filepath.Join(folder, file)
		if err := os.WriteFile(with, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		overlay[filepath.Join(here, file)] = with
	}
	var files []string
	for _, m := range mutated {
		files = append(files, m.file)
	}
	consts, err := constsOf(files)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := mutate(file, consts, &l.mutants)
		if err != nil {
			t.Fatal(err)
		}
		replace(file, text)
	}
	linux, err := filepath.Glob("*_linux_test.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range linux {
		overlay[filepath.Join(here, file)] = ""
	}
	others, err := filepath.Glob("*_other_test.go") // what stands for them elsewhere
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range others {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		replace(file, strings.Replace(string(text), "//go:build !linux", "", 1))
	}
	description, err := json.Marshal(map[string]any{"Replace": overlay})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(folder, "overlay.json")
	if err := os.WriteFile(path, description, 0o600); err != nil {
		t.Fatal(err)
	}
	build := exec.Command("go", "test", "-c", "-vet=off", "-gcflags=-e", "-overlay", path, "-o", l.binary, ".")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("the mutants do not build: %v\n%s", err, out)
	}
	return l
}

// try executes a stage with the mistake of a number, or with none if that is zero.
func (l *laboratory) try(id int, locks string, s stage) (v verdict, out []byte) {
	ctx, cancel := context.WithTimeout(context.Background(), s.limit)
	defer cancel()
	tests := s.tests
	if strings.Contains(tests, "%s") {
		tests = fmt.Sprintf(tests, locks)
	}
	args := append([]string{"-test.failfast", "-test.run", tests}, s.flags...)
	cmd := exec.CommandContext(ctx, l.binary, args...)
	cmd.Env = append(os.Environ(), fmt.Sprintf("ORWL_LOCKS_MUTANT=%d", id))
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	v = verdict{stage: s.name, hung: ctx.Err() != nil}
	switch exit := new(exec.ExitError); {
	case v.hung:
		v.says = "does not end"
	case err == nil:
		v.survived = true
	case !errors.As(err, &exit):
		v.says = err.Error()
	default:
		v.test, v.says = findings(string(out))
	}
	return v, out
}

var (
	failed  = regexp.MustCompile(`--- FAIL: (\S+/\S+)`)
	message = regexp.MustCompile(`(?m)^\s+\w+_test\.go:\d+: (.*)$|^panic: (.*)$`)
)

// findings are the first test that failed and its first words.
func findings(out string) (test, says string) {
	if m := failed.FindStringSubmatch(out); m != nil {
		test = m[1]
	}
	if m := message.FindStringSubmatch(out); m != nil {
		says = strings.ReplaceAll(m[1]+m[2], "|", "/")
		if len(says) > 110 {
			says = says[:110] + "..."
		}
	}
	return test, says
}

// judge executes the stages until one finds the mutant.
func (l *laboratory) judge(id int, stages []stage) (v verdict, out []byte) {
	at := slices.IndexFunc(mutated, func(m struct{ file, locks string }) bool { return m.file == l.mutants[id-1].file })
	for _, s := range stages {
		if v, out = l.try(id, mutated[at].locks, s); !v.survived {
			break
		}
	}
	return v, out
}
