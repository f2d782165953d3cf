package mutants

import (
	"context"
	_ "embed"
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

	"github.com/orwl/go-orwl/internal/rings"
)

// verdict is how the tests found a mutant.
type verdict struct {
	stage, test, says string
	hung, survived    bool
}

// laboratory has the test binaries that contain all mutants.
type laboratory struct {
	*Plan
	binaries map[string]string // by package
	mutants  []mutant
	why      map[string]string // mutants that survive, by name
}

//go:embed switches.go.txt
var switches string

// newLaboratory mutates all files and builds the tests.
func newLaboratory(t testing.TB, p *Plan) *laboratory {
	t.Helper()
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	l := &laboratory{Plan: p, binaries: map[string]string{}}
	overlay := map[string]string{}
	replace := func(file, text string) {
		with := ""
		if text != "" {
			with = filepath.Join(folder, file)
			if err := os.WriteFile(with, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		overlay[filepath.Join(here, file)] = with
	}
	var files []string
	for _, f := range p.Files {
		files = append(files, f.Name)
	}
	consts, name, err := constsOf(files)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := mutate(file, &p.Rules, consts, &l.mutants)
		if err != nil {
			t.Fatal(err)
		}
		replace(file, text)
	}
	replace("mutants_switches.go", strings.Replace(switches, "PACKAGE", name, 1))
	if p.Switches != "" {
		overlay[filepath.Join(here, "mutants_own_switches.go")] = filepath.Join(here, p.Switches)
	}
	for file, text := range p.Replace {
		replace(file, text)
	}
	description, err := json.Marshal(map[string]any{"Replace": overlay})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(folder, "overlay.json")
	if err := os.WriteFile(path, description, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, stage := range p.Stages {
		if l.binaries[stage.Package] == "" {
			l.binaries[stage.Package] = build(t, stage.Package, p.Tags, path, filepath.Join(folder, fmt.Sprint(len(l.binaries), ".test")))
		}
	}
	return l
}

// build makes the binary of a package's tests, and returns its path.
func build(t testing.TB, folder, tags, overlay, binary string) string {
	t.Helper()
	cmd := exec.Command("go", "test", "-c", "-vet=off", "-gcflags=-e", "-tags", tags, "-overlay", overlay, "-o", binary, ".")
	cmd.Dir = folder
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("the mutants do not build: %v\n%s", err, out)
	}
	return binary
}

// try executes a stage with the mistake id, or with none if id is zero. tests stands for %s
// in the stage.
func (l *laboratory) try(id int, tests string, s Stage) (v verdict, out []byte) {
	ctx, cancel := context.WithTimeout(context.Background(), s.Limit)
	defer cancel()
	args := append([]string{"-test.failfast", "-test.run", strings.ReplaceAll(s.Tests, "%s", tests)}, s.Flags...)
	cmd := exec.CommandContext(ctx, l.binaries[s.Package], args...)
	cmd.Dir = s.Package
	cmd.Env = append(withoutRing(), fmt.Sprintf("ORWL_MUTANT=%d", id))
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	v = verdict{stage: s.Name, hung: ctx.Err() != nil}
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

// withoutRing is the environment without the variables of package rings. A stage states its
// budgets by flags: which mutants die depends on no ring.
func withoutRing() []string {
	return slices.DeleteFunc(os.Environ(), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return slices.Contains([]string{rings.Variable, rings.Share, rings.Repeats, rings.Alone}, name)
	})
}

var (
	failed  = regexp.MustCompile(`--- FAIL: (\S+)`)
	message = regexp.MustCompile(`(?m)^\s+\w+_test\.go:\d+: (.*)$|^(?:panic|fatal error): (.*)$`)
)

// findings are the first test that failed and its first words.
func findings(out string) (test, says string) {
	for i, m := range failed.FindAllStringSubmatch(out, 2) { // a test, and what it contains
		if i == 0 || strings.HasPrefix(m[1], test+"/") {
			test = m[1]
		}
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
func (l *laboratory) judge(id int, stages []Stage) (v verdict, out []byte) {
	at := slices.IndexFunc(l.Files, func(f File) bool { return f.Name == l.mutants[id-1].file })
	for _, s := range stages {
		if v, out = l.try(id, l.Files[at].Tests, s); !v.survived {
			break
		}
	}
	return v, out
}
