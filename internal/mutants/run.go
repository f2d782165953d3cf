package mutants

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/orwl/go-orwl/internal/invariant"
	"github.com/orwl/go-orwl/internal/rings"
)

// Run tries the mutants of a trial. It fails for each one that survives without an
// explanation.
func (p *Plan) Run(t testing.TB, trial Trial) {
	t.Helper()
	if invariant.Enabled || rings.Repeated() {
		t.Skip("this builds test binaries of its own, and the ordinary run does")
	}
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("there is no go command to build the mutants with")
	}
	if trial.stages != nil {
		trial.Stages = trial.stages.N()
	}
	l, overlay := newLaboratory(t, p)
	l.explain(t)
	if trial.Stages == 0 && !rings.Takes(p.Turn, 4) {
		l.compile(t, overlay)
		t.Log("all mutants compile; another change tries the telling ones")
		return
	}
	l.build(t, overlay)
	if v, out := l.sound(); !v.survived {
		t.Fatalf("without a mistake the tests fail:\n%s", out)
	}
	if trial.Stages == 0 {
		l.tryTelling(t)
		t.Logf("%d of %d mutants were tried; try all with -%s.mutants %d -timeout 6h", len(l.Telling), len(l.mutants), trial.Flags, len(l.Stages))
		return
	}
	l.tryAll(t, l.Stages[:min(trial.Stages, len(l.Stages))], trial)
}

// sound executes the first stage without a mistake. It has much time: the limit of a stage tells a
// mutant that waits for ever, and a busy machine may need longer.
func (l *laboratory) sound() (v verdict, out []byte) {
	s := l.Stages[0]
	s.Limit += patience
	return l.try(0, l.Files[0].Tests, s)
}

// patience is the time that tests without a mistake get beside the limit.
const patience = 5 * time.Minute

// tryTelling tries the telling mutants.
func (l *laboratory) tryTelling(t testing.TB) {
	t.Helper()
	for _, name := range l.Telling {
		id := l.number(name)
		if id == 0 {
			continue // explain has said so
		}
		if v, _ := l.judge(id, l.Stages[:min(2, len(l.Stages))]); v.survived {
			t.Errorf("the mutant %q survives", name)
		}
	}
}

// tryAll tries all mutants that a pattern finds, two at a time, and prints a table.
func (l *laboratory) tryAll(t testing.TB, stages []Stage, trial Trial) {
	t.Helper()
	pattern, err := regexp.Compile(trial.Only)
	if err != nil {
		t.Fatalf("-%s.mutant: %v", trial.Flags, err)
	}
	var chosen []int
	for i, m := range l.mutants {
		if pattern.MatchString(m.name) {
			chosen = append(chosen, i+1)
		}
	}
	fmt.Println("| line | mutant | found by | test | what it says |\n|---|---|---|---|---|")
	var mu sync.Mutex
	var killed, hung, alive int
	ids := make(chan int)
	var workers sync.WaitGroup
	for range 2 {
		workers.Go(func() {
			for id := range ids {
				tried := stages
				if l.why[l.mutants[id-1].name] != "" && len(chosen) > 1 {
					tried = slices.DeleteFunc(slices.Clone(stages), func(s Stage) bool { return s.Long })
				}
				v, out := l.judge(id, tried)
				mu.Lock()
				switch {
				case v.survived:
					alive++
				case v.hung:
					hung++
				default:
					killed++
				}
				l.report(t, id, v)
				if len(chosen) == 1 && !v.survived {
					fmt.Printf("%s\n", out)
				}
				mu.Unlock()
			}
		})
	}
	for _, id := range chosen {
		ids <- id
	}
	close(ids)
	workers.Wait()
	fmt.Printf("\n%d mutants killed by a failure, %d by the time limit, %d survive\n", killed, hung, alive)
}

// report prints a mutant's row. One that survives has to be explained.
func (l *laboratory) report(t testing.TB, id int, v verdict) {
	m := l.mutants[id-1]
	if v.survived {
		if v.stage, v.says = "none", l.why[m.name]; v.says == "" {
			t.Errorf("%s:%d: the mutant %q survives: add a test, or explain it in %s", m.file, m.line, m.name, l.Page)
		}
	}
	fmt.Printf("| %d | %s | %s | %s | %s |\n", m.line, cell(m.name), v.stage, v.test, v.says)
}

// cell is a mutant's name as a table has it.
func cell(name string) string { return "`" + strings.ReplaceAll(name, "|", `\|`) + "`" }

var row = regexp.MustCompile("(?m)^\\| `(.*)` \\| (.*) \\|$")

// explain reads the page. It fails if the page or the plan names a mutant that does not exist.
func (l *laboratory) explain(t testing.TB) {
	t.Helper()
	for _, name := range l.Telling {
		if l.number(name) == 0 {
			t.Errorf("there is no mutant %q any more: choose another one", name)
		}
	}
	l.why = map[string]string{}
	if l.Page == "" {
		return
	}
	page, err := os.ReadFile(l.Page)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range row.FindAllStringSubmatch(string(page), -1) {
		name := strings.ReplaceAll(r[1], `\|`, "|")
		if l.why[name] = r[2]; l.number(name) == 0 {
			t.Errorf("%s explains %q, and there is no such mutant any more", l.Page, name)
		}
	}
}

// number is the number of the mutant with a name, or zero if there is none.
func (l *laboratory) number(name string) int {
	return 1 + slices.IndexFunc(l.mutants, func(m mutant) bool { return m.name == name })
}

// Plan says what is mutated, and which tests have to notice. The files are in the
// working directory: they are the package under test.
type Plan struct {
	Files []File
	Rules Rules
	// Switches is a Go file of the package with the functions that Rules.Call writes into the
	// text, or empty.
	Switches string
	// Replace holds other texts of files of the package for the build; an empty text leaves
	// the file out.
	Replace map[string]string
	// Tags are the build tags of the tests.
	Tags   string
	Stages []Stage
	// Telling are the mutants that a change tries, with the first two stages. Every fourth change does, and Turn says which of
	// four: to link the tests of all packages with their mutants takes a minute. The other changes compile all mutants.
	Telling []string
	Turn    int
	// Page explains the mutants that survive. If it is empty, none may.
	Page string
}

// File is a file that is mutated.
type File struct {
	Name string
	// Tests stands for %s in the tests of a stage.
	Tests string
}

// Stage is a part of the tests. A mutant that lives through one goes on to the next.
type Stage struct {
	Name string
	// Package is the folder of the package whose tests these are; empty: the package under
	// test.
	Package string
	Tests   string   // a pattern for -test.run; %s: Tests of the file
	Flags   []string // more flags of the tests
	// Limit is how long a mutant may take. One that takes longer waits for ever.
	Limit time.Duration
	// Long is a stage that a mutant skips if the page explains it.
	Long bool
}

// Rules say which mistakes are made.
type Rules struct {
	// Spares reports whether a function is no part of what is tested.
	Spares func(file, function string) bool
	// SparedCalls and SparedNames are the same inside functions: calls, and variables that
	// are assigned.
	SparedCalls, SparedNames []string
	// Computes reports whether sums and bits of a file are mutated, too.
	Computes func(file string) bool
	// Fields are the types whose fields are left out of literals, and Returns says that a
	// result of true or false is turned round.
	Fields  []string
	Returns bool
	// Call makes the mistakes of particular calls; nil makes none.
	Call func(m *Mutation, c *ast.CallExpr)
}

// Trial says which mutants Run tries.
type Trial struct {
	Stages int    // how many stages; 0: the telling mutants only
	Only   string // a pattern that the names of the mutants match

	stages *rings.Budget // replaces Stages
	Flags  string        // the beginning of the names of its flags
}

// allStages is more than any plan has.
const allStages = 99

// Flags is a trial that two flags of the test binary choose: -NAME.mutants and -NAME.mutant. The
// nightly tries all mutants.
func Flags(name string) *Trial {
	trial := &Trial{Flags: name}
	trial.stages = rings.Size(name+".mutants", 0, 0, allStages, "TestMutants: try every mutant and print the table; how many stages of tests it has to live through")
	flag.StringVar(&trial.Only, name+".mutant", "", "TestMutants: try only the mutants whose names this pattern finds; print what the tests say of a single one")
	return trial
}

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

// newLaboratory mutates all files, and returns the path of an overlay for the go command that has their texts.
func newLaboratory(t testing.TB, p *Plan) (l *laboratory, path string) {
	t.Helper()
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	l = &laboratory{Plan: p}
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
	path = filepath.Join(folder, "overlay.json")
	if err := os.WriteFile(path, description, 0o600); err != nil {
		t.Fatal(err)
	}
	return l, path
}

// build makes the test binaries.
func (l *laboratory) build(t testing.TB, overlay string) {
	t.Helper()
	l.binaries = map[string]string{}
	for _, stage := range l.Stages {
		if l.binaries[stage.Package] == "" {
			binary := filepath.Join(filepath.Dir(overlay), fmt.Sprint(len(l.binaries), ".test"))
			l.goes(t, stage.Package, overlay, "test", "-c", "-vet=off", "-gcflags=-e", "-o", binary)
			l.binaries[stage.Package] = binary
		}
	}
}

// compile compiles the mutants, and the package's own tests with them. It links nothing, which takes most of the
// time of a build.
func (l *laboratory) compile(t testing.TB, overlay string) {
	t.Helper()
	l.goes(t, "", overlay, "list", "-export", "-test")
}

// goes starts the go command for a package with its mutants.
func (l *laboratory) goes(t testing.TB, folder, overlay string, args ...string) {
	t.Helper()
	cmd := exec.Command("go", append(args, "-tags", l.Tags, "-overlay", overlay, ".")...)
	cmd.Dir = folder
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("the mutants do not build: %v\n%s", err, out)
	}
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
	tests := l.Files[at].Tests
	for _, s := range stages {
		if v, out = l.try(id, tests, s); v.hung && l.slow(tests, &s) {
			v, out = l.try(id, tests, s)
		}
		if !v.survived {
			break
		}
	}
	return v, out
}

// slow reports whether a stage takes so long without a mistake that its limit does not show that a mutant waits for
// ever, and raises the limit. A busy machine is slow, and a stage gets more tests over the years.
func (l *laboratory) slow(tests string, s *Stage) bool {
	sound := *s
	sound.Limit += patience
	began := time.Now()
	l.try(0, tests, sound)
	if took := time.Since(began); 3*took > s.Limit {
		s.Limit = 3 * took
		return true
	}
	return false
}
