package orwl

import (
	"flag"
	"testing"
	"time"

	"github.com/orwl/go-orwl/internal/mutants"
	"github.com/orwl/go-orwl/internal/rings"
)

var (
	mutantStages = flag.Int("orwl.mutants", 0, "TestMutants: try every mutant and print the table; how many stages of tests it has to live through")
	mutantNames  = flag.String("orwl.mutant", "", "TestMutants: try only the mutants whose names this pattern finds")
)

// telling are the mutants that the nightly tries: each takes long. A change tries the first one. docs/STATUS.md says what is known of the others.
var telling = []string{
	"restore.go Runtime.restore: t.round.Set(r.Rounds): dropped",
	"folder.go Runtime.openFolder: s.base = max(s.base, f.Base): dropped",
	"folder.go cuts.isSaved: c.send(ctx, c.keeper.Passed(s.Round, 0)): dropped",
	"folder.go survival.load: s.keeper.Loaded(h, records): dropped",
	"restore.go Runtime.restore: _, err = rt.gather(ctx, \"filled\", nil): dropped",
	"restore.go step.starts: s.rounds = s.round: dropped",
	"restore.go Runtime.refill: best = a.task: dropped",
	"lives.go Nodes.ended: s.keeper.End(): dropped",
	"lives.go Nodes.ended: l.Outcome = message.Over: dropped",
	"lives.go survival.same: s.items[rt.runs] = items: dropped",
	"kept.go Runtime.finishLife: err = r.cuts.ends(ctx, all): dropped",
}

// TestMutants makes one mistake at a time in reductions, and in what joins lives, cuts and the folder to the runtime. Whole runs in virtual time have
// to notice, or the tests here:
//
//	ORWL_RING=night go test ./orwl -run TestMutants -orwl.mutants 5 -orwl.mutant '^kept.go' -timeout 6h
func TestMutants(t *testing.T) {
	rings.Needs(t, rings.Change)
	const here = "^Test(Lives|LivesOfNoTasks|EndsKept|LastRecords|StopHears|StopKeeps|FinishTellsWhy|FolderOtherRun|UntilInCut|Leaves|LeavesOfStages|AllLeave|Comes|LivesOfStages|Mortal|OtherProgram|CutsOfStages|StopAtEnd|Folder|FolderVariable|FolderDamaged|FolderInUse|LivesWithoutReason|LifeLog|Survive|Asked|Barren|FailsInLives|Weigh|Weighs|Buddies|Runs|EndedTells)$"
	(&mutants.Plan{
		Files: []mutants.File{{Name: "lives.go"}, {Name: "cuts.go"}, {Name: "folder.go"}, {Name: "kept.go"}, {Name: "restore.go"}, {Name: "reduction.go"}, {Name: "until.go"}},
		Rules: mutants.Rules{
			Spares:      func(string, string) bool { return false },
			SparedCalls: []string{"Debug", "Info", "Warn", "Error", "Say"},    // the log's lines
			Computes:    func(file string) bool { return file != "lives.go" }, // where texts are sums, too
			Returns:     true,
		},
		Stages: []mutants.Stage{
			{Name: "reductions", Tests: "^Test(Reduction|Sum|Until)", Limit: 10 * time.Second},
			{Name: "few worlds", Package: "internal/worlds", Tests: "^TestWorlds$", Flags: []string{"-worlds", "60"}, Limit: 30 * time.Second},
			{Name: "lives", Tests: here, Limit: time.Minute},
			{Name: "cases", Package: "internal/worlds", Tests: "^Test(Interval|End|Slow|Sleeping|Cases|Apart|Short|Many|Senior)", Limit: time.Minute},
			{Name: "worlds", Package: "internal/worlds", Tests: "^Test", Flags: []string{"-worlds", "600"}, Limit: 3 * time.Minute},
		},
		Telling: telling[:rings.Of(0, 1, len(telling))], Page: "testdata/survivors.md",
	}).Run(t, mutants.Trial{Flags: "orwl", Stages: *mutantStages, Only: *mutantNames})
}
