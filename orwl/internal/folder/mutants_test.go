package folder

import (
	"testing"
	"time"

	"github.com/orwl/go-orwl/internal/mutants"
	"github.com/orwl/go-orwl/internal/rings"
)

var tried = mutants.Flags("folder")

// telling are the mutants that a change tries.
var telling = []string{
	"folder.go Folder.save: err = to.Sync(): dropped",
	"folder.go Folder.Look: errors.Is(bad, fs.ErrNotExist): never",
	"folder.go Folder.Keep: n.Compare(f.before) < 0: off by one",
	"folder.go Folder.removeIf: is(n) && !errors.Is(f.unusable[file], ErrOther): without the second",
	"file.go read: m.Task <= last: off by one",
}

// TestMutants makes mistakes in the package one at a time, and expects a test to notice each. It leaves out disk.go, where the system
// does the work.
func TestMutants(t *testing.T) {
	rings.Needs(t, rings.Change)
	(&mutants.Plan{
		Files: []mutants.File{{Name: "folder.go"}, {Name: "file.go"}, {Name: "name.go"}},
		Rules: mutants.Rules{
			Spares:   func(string, string) bool { return false },
			Computes: func(file string) bool { return file == "file.go" },
			Returns:  true,
		},
		Stages: []mutants.Stage{
			{Name: "short", Tests: ".", Flags: []string{"-test.skip", "^Test(Mutants|CrashAnywhere|Damage)$"}, Limit: 30 * time.Second},
			{Name: "crashes", Tests: "^Test(CrashAnywhere|Damage)$", Limit: 30 * time.Second},
		},
		Telling: telling, Turn: 2, Page: "testdata/survivors.md",
	}).Run(t, *tried)
}
