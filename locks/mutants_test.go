package locks_test

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

var (
	mutants = flag.Int("locks.mutants", 0, "TestMutants: try every mutant and print the table; how many stages of tests it has to live through, 1 to 4")
	only    = flag.String("locks.mutant", "", "TestMutants: try only the mutants whose names this pattern finds; print what the tests say of a single one")
)

// explained is the page that says of every mutant which survives why it is no mistake.
const explained = "../docs/decisions/locks-mutants.md"

// telling are the mutants that every test run tries.
var telling = []string{
	"handle.go handle.end: h.w.FlushAll(): dropped",
	"handle.go handle.end: h.broken(): false",
	"mcs.go queue.follow: next.publish(q.name | patience): not flushed",
	"mcs_abort.go queue.offer: status.wake(): dropped",
	"clh.go clhQueue.leave: own.flag.wake(): dropped",
	"hemlock.go hemQueue.leave: q.name ^= hemTurn: dropped",
	"ticket_abort.go ticketAbort.giveUp: l.serving.Load()&ticketMask != l.mine: turned round",
	"cohort.go cohort.Release: c.local.leave(climb): dropped",
	"rmarw_counter.go counter.depart: c.wake(): dropped",
	"rmarw_counter.go counter.bar: departed(v) == inside: always",
}

// mutated are the files that are mutated, and the locks whose tests may notice.
var mutated = []struct{ file, locks string }{
	{"handle.go", "MCS|CLH|TKT-A|HEM|HMCS|RMA-RW|C-TKT-MCS|TTS|dash::Mutex"},
	{"word.go", "MCS|D-MCS|CLH|TKT-A|HEM|HMCS|RMA-RW|C-TKT-MCS|TTS|dash::Mutex"},
	{"mcs.go", "MCS|D-MCS|HMCS|RMA-MCS|RMA-RW|C-MCS-MCS|C-TAS-MCS"},
	{"mcs_abort.go", "MCS|D-MCS|HMCS|RMA-MCS|RMA-RW|C-TAS-MCS"},
	{"hmcs.go", "HMCS|RMA-MCS|RMA-RW"},
	{"clh.go", "CLH|CLH-NUMA|C-TAS-CLH|C-MCS-CLH"},
	{"clh_numa.go", "CLH-NUMA"},
	{"hemlock.go", "HEM|HEM-CTR|HEM-AH|C-TAS-HEM|C-MCS-HEM"},
	{"ticket.go", "TKT|TKT-A|C-TKT-TKT|C-TAS-TKT|C-TKT-MCS"},
	{"ticket_abort.go", "TKT-A"},
	{"tas.go", "TAS|TTS|C-TAS-TTS|C-MCS-TTS|foMPI-RW"},
	{"cohort.go", "C-MCS-MCS|C-TKT-TKT|C-TAS-TTS|C-MCS-CLH"},
	{"rmarw.go", "RMA-RW"},
	{"rmarw_counter.go", "RMA-RW"},
	{"rmarw_stepback.go", "RMA-RW"},
	{"fompi.go", "foMPI-Spin|foMPI-RW"},
	{"dash.go", "dash::Mutex"},
}

// A stage is a part of the tests. A mutant that lives through one goes on to the next.
type stage struct {
	name  string
	tests string // %s: the locks
	flags []string
	limit time.Duration // a mutant that is not through by then goes on for ever
}

var stages = []stage{
	{"some seeds", "^(TestExhaust|TestSeeds|TestCrashSeeds|TestCrashAnywhere|TestCancelAnywhere|TestTryAnywhere|TestGoneForGood|TestMixed)$/^(%s)$", []string{"-locks.seeds=4", "-locks.states=500"}, 40 * time.Second},
	{"more seeds", "^(TestExhaust|TestSeeds|TestCrashSeeds|TestCrashAnywhere|TestCancelAnywhere|TestTryAnywhere|TestGoneForGood|TestMixed)$/^(%s)$", []string{"-locks.seeds=40", "-locks.states=8000"}, 2 * time.Minute},
	{"suite", "^(TestConformance|TestConformanceOfVariants)$/^(%s)$|" +
		"^(TestHemlock.*|TestTickets.*|TestKeptSeeds|TestGivesWay|TestHMCS.*|TestBarge.*|TestStress|TestElement.*|TestShare.*|TestWriters.*|TestStepBack.*|" +
		"TestCounter.*|TestWriterStays|TestTryAfterSkip|TestFailedWindow.*)$", nil, 4 * time.Minute},
	{"1,000 seeds", "^(TestExhaust|TestSeeds|TestCrashSeeds|TestCrashAnywhere|TestCancelAnywhere|TestTryAnywhere|TestGoneForGood|TestMixed|TestCrowd)$/^(%s)$", []string{"-locks.seeds=1000", "-locks.states=50000"}, 15 * time.Minute},
}

// fewStages are enough for a mutant that the page explains: the last one takes most of the
// time.
const fewStages = 3

// TestMutants makes one small mistake at a time in the locks, and expects the tests to
// notice. A mutant that they do not notice is explained in docs/decisions/locks-mutants.md.
func TestMutants(t *testing.T) {
	if testing.Short() || raceDetector {
		t.Skip("-short or -race: this builds a test binary, which takes seconds")
	}
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("there is no go command to build the mutants with")
	}
	l := newLaboratory(t)
	l.explain(t)
	if v, out := l.try(0, "MCS", stages[0]); !v.survived {
		t.Fatalf("without a mistake the tests fail:\n%s", out)
	}
	if *mutants == 0 {
		l.tryTelling(t)
		t.Logf("%d of %d mutants were tried; try all with -locks.mutants 4 -timeout 6h", len(telling), len(l.mutants))
		return
	}
	l.tryAll(t, stages[:min(*mutants, len(stages))])
}

// tryTelling tries the mutants that every run tries.
func (l *laboratory) tryTelling(t *testing.T) {
	for _, name := range telling {
		id := l.number(name)
		if id == 0 {
			t.Errorf("there is no mutant %q any more: choose another one", name)
			continue
		}
		if v, _ := l.judge(id, stages[:2]); v.survived {
			t.Errorf("the mutant %q survives", name)
		}
	}
}

// tryAll tries all mutants that -locks.mutant finds, two at a time, and prints a table.
func (l *laboratory) tryAll(t *testing.T, stages []stage) {
	pattern, err := regexp.Compile(*only)
	if err != nil {
		t.Fatalf("-locks.mutant: %v", err)
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
					tried = stages[:min(len(stages), fewStages)]
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
func (l *laboratory) report(t *testing.T, id int, v verdict) {
	m := l.mutants[id-1]
	if v.survived {
		if v.stage, v.says = "none", l.why[m.name]; v.says == "" {
			t.Errorf("%s:%d: the mutant %q survives: add a test, or explain it in %s", m.file, m.line, m.name, explained)
		}
	}
	fmt.Printf("| %d | %s | %s | %s | %s |\n", m.line, cell(m.name), v.stage, v.test, v.says)
}

// cell is a mutant's name as a table has it.
func cell(name string) string { return "`" + strings.ReplaceAll(name, "|", `\|`) + "`" }

var row = regexp.MustCompile("(?m)^\\| `(.*)` \\| (.*) \\|$")

// explain reads the page.
func (l *laboratory) explain(t *testing.T) {
	t.Helper()
	page, err := os.ReadFile(explained)
	if err != nil {
		t.Fatal(err)
	}
	l.why = map[string]string{}
	for _, r := range row.FindAllStringSubmatch(string(page), -1) {
		name := strings.ReplaceAll(r[1], `\|`, "|")
		if l.why[name] = r[2]; l.number(name) == 0 {
			t.Errorf("%s explains %q, and there is no such mutant any more", explained, name)
		}
	}
}

// number is that of a mutant, or zero.
func (l *laboratory) number(name string) int {
	return 1 + slices.IndexFunc(l.mutants, func(m mutant) bool { return m.name == name })
}
