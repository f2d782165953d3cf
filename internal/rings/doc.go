// Package rings says which test runs when, and how much it explores. Tests use it.
//
// There are three rings of checks, each larger than the one before:
//
//	ring     command         variable
//	User     go test ./...   ORWL_RING is not set
//	Change   .ci/run         ORWL_RING=change
//	Night    .ci/nightly     ORWL_RING=night
//
// A test that a user does not wait for begins with its ring:
//
//	rings.Needs(t, rings.Change)
//
// An exploration has a budget for each ring, and a flag that overrides it:
//
//	var seeds = rings.Seeds("locks.seeds", 4, 1600, "TestSeeds: seeds for each lock")
//	var states = rings.Size("locks.states", 200, 20000, 0, "TestExhaust: states of each search; 0: all")
//
// Users play the first seeds. The nightly plays all of them. A change plays one share, and
// ORWL_SHARE=3/16 says which: CI derives it from the commit. So what a change is rejected by, a
// nightly has rejected or will. Searches that take long are dealt likewise: rings.Takes(i, 4) is
// true for one of four of them.
//
// # Tests that compute
//
// Many tests play schedules: a seed or a search decides which rank goes next, and one rank runs
// at a time. Such a test computes the same in every run. The race detector finds no second
// goroutine in it, and neither GOMAXPROCS nor the Go version changes anything. It begins with
//
//	rings.Computes(t)
//
// The gates race and cpu leave it out. The gate explore runs it with asserts, and may take a
// result from Go's cache. A test that needs the scheduler, a clock, a socket or another process
// does not call Computes.
//
// # A sample for the race detector
//
// Tests take five times as long with the race detector. Gate race of a change plays a sample:
//
//	rings.Costly(t)                                  // leaves a test out
//	rounds := rings.Sampling(100, 10)                // plays fewer cases of one kind
//	rings.FewChecks()                                // plays fewer cases of rapid: in a func init
//
// The nightly plays all of them with the race detector, and gate test plays all without.
//
// # Tests of silence
//
// A few tests need real silence: a process that is stopped for longer than its lease is lost. They
// begin with rings.Silence(t), and run in the gate silence, beside nothing else. A test that is not
// about silence takes a lease that no busy machine exceeds, and waits for events.
//
// # Tests that start the go command
//
// Go's cache of results sees which files a test looks at, and not what its children read. A test
// that starts the go command begins with rings.Source(t), which looks at all files of the module.
//
// The variables are read when a test asks, not before: Go's cache of results sees only then that
// a result depends on them.
package rings
