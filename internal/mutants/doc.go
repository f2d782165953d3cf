// Package mutants asks whether the tests of a package notice a mistake. Tests use it.
//
// A mutant is a copy of the code with one small mistake: a statement that is dropped, a
// condition that is never or always true, an operand that is left out, a comparison that is
// turned round. All mutants stand in one binary of tests, side by side, and an environment
// variable chooses one. So the build takes seconds, however many mutants there are:
//
//	x.wake()              if !mutated(7) { x.wake() }
//	a && b                a && (mutated(8) || (b))
//	n < m                 mutatedLess(9, n, m)         n <= m if mistake 9 is made
//
// Each change compiles all mutants, one change of four tries the telling ones, and the nightly tries
// all: package rings says which run this is. The tests of a mutant do not see the ring. A stage states
// its budgets by flags. A mutant that waits for ever dies by the stage's limit, and only if the stage is
// quick without a mistake.
//
// A [Plan] says which files are mutated and which tests have to notice. [Plan.Run] builds
// the tests with an overlay, so no file of the module changes. It tries the telling mutants,
// or all of them, and expects that each one is killed or explained. The explanations are
// rows of a page:
//
//	| `file.go function: code: mistake` | why it is no mistake |
//
// Run fails for a survivor without a row, and for a row without a mutant.
package mutants
