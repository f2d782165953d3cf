package mutants

import (
	"flag"
	"go/ast"
	"time"

	"github.com/orwl/go-orwl/internal/rings"
)

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
