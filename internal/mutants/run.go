package mutants

import (
	"flag"
	"fmt"
	"go/ast"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/orwl/go-orwl/internal/rings"
)

// Run tries the mutants of a trial. It fails for each one that survives without an
// explanation.
func (p *Plan) Run(t testing.TB, trial Trial) {
	t.Helper()
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("there is no go command to build the mutants with")
	}
	if trial.stages != nil {
		trial.Stages = trial.stages.N()
	}
	if trial.Stages == 0 && !rings.Takes(p.Turn, 4) {
		t.Log("another change tries these mutants")
		return
	}
	l := newLaboratory(t, p)
	l.explain(t)
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
	s.Limit = 5 * time.Minute
	return l.try(0, l.Files[0].Tests, s)
}

// tryTelling tries the telling mutants.
func (l *laboratory) tryTelling(t testing.TB) {
	t.Helper()
	for _, name := range l.Telling {
		id := l.number(name)
		if id == 0 {
			t.Errorf("there is no mutant %q any more: choose another one", name)
			continue
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

// explain reads the page.
func (l *laboratory) explain(t testing.TB) {
	t.Helper()
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
	// four: to build the tests of all packages with their mutants takes a minute.
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
