package locks_test

import (
	"flag"
	"fmt"
	"go/ast"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/orwl/go-orwl/internal/invariant"
	"github.com/orwl/go-orwl/internal/mutants"
	"github.com/orwl/go-orwl/internal/rings"
)

var trial = mutants.Flags("locks")

// telling are the mutants that a change tries.
var telling = []string{
	"side.go side.complete: s.w.FlushAll(): dropped",
	"side.go side.end: s.broken(): false",
	"mcs.go queue.enter: next.publish(q.name): not flushed",
	"mcs_abort.go abortQueue.offer: status.wake(): dropped",
	"clh.go clhQueue.leave: own.flag.wake(): dropped",
	"hemlock.go hemQueue.leave: q.name ^= hemTurn: dropped",
	"ticket_abort.go ticketAbort.giveUp: l.serving.Load()&ticketMask != l.mine: turned round",
	"cohort.go pair.leave: p.local.leave(climb): dropped",
	"clof.go ofElement.write: e.words[i].Store(now[i]): dropped",
	"reciprocating.go reciprocal.enter: r.succ == r.stop: never",
	"ticket.go twa.Release: slot.accumulate(1): wakes no rank",
	"malthusian.go malthusian.revive: q.link(q.rear, 0): dropped",
	"alock.go alock.give: l.call.accumulate(1): dropped",
	"declock.go decLock.pass: l.gate.Store(0): dropped",
	"shiftlock.go shiftLock.stayOut: l.word.wake(): dropped",
	"shfl.go shuffler.shuffle: s.link(prev, behind): dropped",
	"cna.go cnaQueue.findSuccessor: next.Store(0): dropped",
	"cst.go cst.find: next.CompareAndSwap(0, uint64(l.rank)+1): not atomic",
	"tlp.go tlp.Release: l.straight.Store(0): dropped",
	"crw.go crw.Release: l.open(l.indicators): dropped",
	"rmarw_adaptive.go rmaRWA.letReadersIn: c.Add(to*spreadOne - closed): not atomic",
	"rmarw.go rmaRW.ReleaseRead: l.own.wake(): dropped",
	"rmarw_counter.go counter.bar: departed(v) == inside: always",
}

// mutated are the files that are mutated, and the locks whose tests may notice.
var mutated = []mutants.File{
	{Name: "side.go", Tests: "MCS|D-MCS|CLH|TKT-A|HEM|HMCS|RMA-RW|C-TKT-MCS|TTS|dash::Mutex"},
	{Name: "mcs.go", Tests: "D-MCS|CNA|SHFL"},
	{Name: "mcs_abort.go", Tests: "MCS|HMCS|AHMCS|RMA-MCS|RMA-RW|C-MCS-MCS|C-TAS-MCS"},
	{Name: "hmcs.go", Tests: "HMCS|RMA-MCS|RMA-RW"},
	{Name: "clh.go", Tests: "CLH|CLH-NUMA|C-TAS-CLH|C-MCS-CLH"},
	{Name: "clh_numa.go", Tests: "CLH-NUMA|HCLH"},
	{Name: "hemlock.go", Tests: "HEM|HEM-CTR|HEM-AH|C-TAS-HEM|C-MCS-HEM|C-MCS-HEM-AH"},
	{Name: "ticket.go", Tests: "TKT|TKT-A|TWA|C-TKT-TKT|C-TAS-TKT|C-TKT-MCS"},
	{Name: "ticket_abort.go", Tests: "TKT-A"},
	{Name: "tas.go", Tests: "TAS|TTS|C-TAS-TTS|C-MCS-TTS|foMPI-RW"},
	{Name: "cohort.go", Tests: "C-MCS-MCS|C-TKT-TKT|C-TAS-TTS|C-MCS-CLH"},
	{Name: "rmarw.go", Tests: "RMA-RW|RMA-RW-A"},
	{Name: "rmarw_counter.go", Tests: "RMA-RW|RMA-RW-A"},
	{Name: "rmarw_adaptive.go", Tests: "RMA-RW-A|RMA-RW"},
	{Name: "rmarw_stepback.go", Tests: "RMA-RW|RMA-RW-A"},
	{Name: "rmarw_plus.go", Tests: `RMA-RW\+`},
	{Name: "fompi.go", Tests: "foMPI-Spin|foMPI-RW"},
	{Name: "dash.go", Tests: "dash::Mutex|C-P2P-MCS|C-P2P-HEM"},
	{Name: "rh.go", Tests: "RH"},
	{Name: "ahmcs.go", Tests: "AHMCS"},
	{Name: "cst.go", Tests: "CST"},
	{Name: "spin_queue.go", Tests: "TTS-MCS|TAS-MCS|SHFL|Fissile"},
	{Name: "shfl.go", Tests: "SHFL|SHFL-TAS"},
	{Name: "cna.go", Tests: "CNA|Fissile|MCSCR"},
	{Name: "clof.go", Tests: "CLoF-.*"},
	{Name: "reciprocating.go", Tests: "Reciprocating|CLoF-HEM-Reciprocating-TKT"},
	{Name: "malthusian.go", Tests: "MCSCR"},
	{Name: "alock.go", Tests: "ALock"},
	{Name: "declock.go", Tests: "DecLock"},
	{Name: "shiftlock.go", Tests: "ShiftLock"},
	{Name: "tlp.go", Tests: "P-MCS-MCS|P-TKT-TKT|P-HMCS-MCS"},
	{Name: "recoverable.go", Tests: "R-MCS|R-C-MCS-MCS|R-RMA-RW|R-TKT"},
	{Name: "recoverable_rw.go", Tests: "R-RMA-RW|R-foMPI-RW"},
	{Name: "crw.go", Tests: "C-RW-(NP|RP|WP)-MCS-MCS"},
}

// explorations are the tests that search schedules.
const explorations = "TestExhaust|TestExhaustMore|TestSeeds|TestLarge|TestCrashSeeds|TestCrashAnywhere|TestCancelAnywhere|TestTryAnywhere|TestReadTryBeside|TestGoneForGood|TestMixed|TestSpreadFlips|TestCLoFNames|TestSurvivesAnywhere|TestSurvivalSeeds"

// orders are the tests of the order in which ranks get a lock, and of rules. All together take three seconds.
const orders = "^(TestBatches|TestBounds|TestElement.*|TestShare.*|TestWriters.*|TestStepBack.*|TestCounter.*|TestWriterStays|TestTryAfterSkip|TestWaitersThatStay|TestGoneWriter.*|" +
	"TestHighHasItsShare|TestCNA.*|TestCST.*|TestCLoFLevels|TestCLoFByName|TestCLoFCounts|TestMCSCRAlone|TestReciprocating.*|TestTWAWaitsApart|TestSurvivors.*|TestTryMindsImpatientWriter|TestFailedWindow.*|TestTryMindsBarrier|TestPhases.*|" +
	"TestMixVotes|TestMixChangesSpread|TestMixPace|TestShiftFollowsReaders|TestSpreadsOfMachines|TestPaceOfWriters|TestReadersFollowCounters|TestObserve|TestWriterLeavesTuning|TestWriterMindsTuning|TestMindsTunedTR)$"

// Each stage tries the locks of the mutated file. The simulator reports a rank that waits for ever at
// once, memory does not: so explorations come before the orders.
var stages = []mutants.Stage{
	{Name: "some seeds", Tests: "^(" + explorations + ")$/^(%s)$", Flags: explored(12, 500, 2, 16), Limit: 40 * time.Second},
	{Name: "orders", Tests: orders, Flags: []string{"-locks.bounds=99"}, Limit: 30 * time.Second},
	{Name: "more seeds", Tests: "^(" + explorations + ")$/^(%s)$", Flags: explored(40, 8000, 8, 16), Limit: 2 * time.Minute},
	{Name: "suite by schedules", Tests: "^(TestConformanceBySchedules|TestVariantsBySchedules)$/^(%s)$", Flags: []string{"-locks.schedules=2", "-locks.simulators=3"}, Limit: 2 * time.Minute},
	{Name: "suite", Tests: "^(TestConformance|TestConformanceOfVariants)$/^(%s)$|" +
		"^(TestHemlock.*|TestTickets.*|TestKeptSeeds|TestGivesWay|TestHMCS.*|TestRH.*|TestAHMCS.*|TestBarge.*|TestStress)$",
		Flags: []string{"-locks.nestedstates=0", "-locks.nested=100"}, Limit: 4 * time.Minute},
	{Name: "1,000 seeds", Tests: "^(" + explorations + "|TestCrowd)$/^(%s)$", Flags: append(explored(1000, 50_000, 64, 64), "-locks.crowd=10"), Limit: 15 * time.Minute, Long: true},
}

// explored are the flags of explorations: seeds, states of each search, and games on machines of up
// to so many ranks.
func explored(seeds, states, large, ranks int) []string {
	return []string{fmt.Sprint("-locks.seeds=", seeds), fmt.Sprint("-locks.states=", states), fmt.Sprint("-locks.crashstates=", states),
		fmt.Sprint("-locks.quitstates=", states), fmt.Sprint("-locks.large=", large), fmt.Sprint("-locks.ranks=", ranks),
		fmt.Sprint("-locks.survivals=", 100*seeds), fmt.Sprint("-locks.survivalstates=", states)}
}

// TestMutants makes one small mistake at a time in the locks, and expects the tests to
// notice. A mutant that they do not notice is explained in testdata/survivors.md.
func TestMutants(t *testing.T) {
	rings.Needs(t, rings.Change)
	if invariant.Enabled || rings.Repeated() {
		t.Skip("this builds a test binary of its own, and the ordinary run does")
	}
	t.Parallel()
	(&mutants.Plan{
		Files: mutated, Rules: rules, Switches: filepath.Join("testdata", "mutants", "switches.go"), Replace: withoutProcesses(t),
		Stages: stages, Telling: telling, Turn: 1, Page: "testdata/survivors.md",
	}).Run(t, *trial)
}

var commanded = flag.String("locks.command", "", "TestCommandFindsMutants: the mutants whose names this pattern finds, instead of the telling ones")

// inside are telling mutants that only a test finds that looks into a lock, or makes it change its mind more often than an
// option allows: TestCST, which reads the list of nodes, and TestSpreadFlips.
var inside = []string{
	"cst.go cst.find: next.CompareAndSwap(0, uint64(l.rank)+1): not atomic",
	"rmarw_adaptive.go rmaRWA.letReadersIn: c.Add(to*spreadOne - closed): not atomic",
}

// TestCommandFindsMutants makes the telling mistakes, and expects the command orwl-lab sim to notice. It has no other test to rely on.
func TestCommandFindsMutants(t *testing.T) {
	rings.Needs(t, rings.Night)
	if invariant.Enabled || rings.Repeated() {
		t.Skip("this builds a test binary of its own, and the ordinary run does")
	}
	t.Parallel()
	asks := mutants.Trial{Only: *commanded}
	if *commanded != "" {
		asks.Stages = 1
	}
	seen := slices.DeleteFunc(slices.Clone(telling), func(name string) bool { return slices.Contains(inside, name) })
	(&mutants.Plan{
		Files: mutated, Rules: rules, Switches: filepath.Join("testdata", "mutants", "switches.go"), Telling: seen, Page: "testdata/survivors.md",
		Stages: []mutants.Stage{{
			Name: "the command", Package: filepath.Join("..", "lab", "cmd", "orwl-lab"), Tests: "^TestSimAccepts$/^(%s)$", Flags: []string{"-lab.accepts=999"}, Limit: 5 * time.Minute,
		}},
	}).Run(t, asks)
}

// withoutProcesses leaves out the tests with processes and nodes, whose packages take long
// to link.
func withoutProcesses(t *testing.T) map[string]string {
	t.Helper()
	texts := map[string]string{}
	linux, err := filepath.Glob("*_linux_test.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range linux {
		texts[file] = ""
	}
	others, err := filepath.Glob("*_other_test.go") // these stand for them on other machines
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range others {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		texts[file] = strings.Replace(string(text), "//go:build !linux", "", 1)
	}
	return texts
}

// rules are the mistakes that are made in the locks.
var rules = mutants.Rules{
	Spares: func(file, function string) bool {
		return spared.MatchString(function) && (function != "wait" || !strings.HasPrefix(file, "mcs"))
	},
	SparedCalls: []string{"Inc", "handedOver", "heed", "returns", "mergeReturns", "misuse", "Pause", "HandedOver", "came", "acquired"},
	SparedNames: []string{"asks", "asked", "waited", "behind", "upper", "met"},
	Computes:    computing.MatchString,
	Call:        mistakeCall,
}

// computing are the files whose fields, counts and amounts are mutated, too.
var computing = regexp.MustCompile(`^(shfl|cna|tlp|crw|rmarw|ticket|hemlock|clh|fompi|cohort|hmcs|rh|hclh|ahmcs|cst|clof|reciprocating|malthusian|recoverable|alock|declock|shiftlock)`)

// spared are functions that are no part of a protocol: they make locks, count what
// happened, and say how long a rank stays away.
var spared = regexp.MustCompile(`^(new|words|init|levels|allLevels|cohort(s|Locals|Globals)$|apart|line|misuse|brokenBy|returns|mergeReturns|handedOver|heed|came|acquired|entered|Counts|plus|barge$|wait$|own$|other$|shows|mustTell|forever|ticketSlots|tlps$|tlpByName|tlpOver|crws$|crwByName|crwOver|recoverables$|recoverableByName|recoverableOver|spinQueues|cnas$|cloFs$|cloFByName$|cloFOf$|newOfElement$|stridesOf$|perElement$|power$)`)

// accesses are the methods of a word whose mistakes are no choice of operands, and what
// these mistakes are.
var accesses = map[string][]string{
	"publish":        {"wakes no rank", "not flushed"},
	"accumulate":     {"wakes no rank", "not flushed"},
	"Store":          {"not flushed"},
	"Swap":           {"not atomic"},
	"CompareAndSwap": {"not atomic"},
	"Add":            {"not atomic", "adds nothing"},
}

// mistakeCall mutates what a call does.
func mistakeCall(m *mutants.Mutation, c *ast.CallExpr) {
	sel, ok := c.Fun.(*ast.SelectorExpr)
	if !ok {
		return
	}
	switch name := sel.Sel.Name; name {
	case "broken", "mustTell":
		m.Wrap(c, "(!mutated(%d) && (", "))", m.Add(c, "false"))
	case "decided":
		id := m.Add(c, "nil")
		m.Wrap(c.Fun, "mutatedUnless(%d, ", ")", id)
		m.Replace(c.Lparen, 2, "")
	case "Masked":
		m.Operand(c.Args[0], "mutatedOnes", m.Add(c, "without the mask"))
	default:
		what, ok := accesses[name]
		if !ok || len(c.Args) == 0 {
			return
		}
		numbers := ""
		for _, w := range what {
			numbers += fmt.Sprintf("%d, ", m.Add(c, w))
		}
		m.Replace(sel.Sel.Pos(), len(name), "mutated%s", name)
		m.Replace(c.Lparen+1, 0, "%s", numbers)
	}
}
