package mutants

import (
	"fmt"
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
