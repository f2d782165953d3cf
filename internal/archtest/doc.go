// Package archtest is the architecture as a Go test. It reads the source of the
// whole module and reports where it breaks a rule:
//
//   - imports point down: the table in rules_test.go says which package may import which, and a
//     package that has no row there is a violation too;
//   - below orwl, backends excepted, code is a pure state machine: no goroutine,
//     no clock, no random number, no mutable global (pure_test.go). So the simulator can
//     own time, delivery and scheduling;
//   - house rules on packages, files and names, and no sleeping test (house_test.go);
//   - the arrows of ARCHITECTURE.md are imports, and all that there are (picture_test.go).
//
// Everything is read with go/parser rather than go list or x/tools/go/packages:
// a parsed tree needs nothing but Go and no network, costs no dependency, works
// while the tree does not compile, and shows every file, also those that this
// machine's build tags leave out. Where a name must be told from another that
// shadows it, go/types resolves it, without looking into imported packages.
//
// The trees in testdata are planted violations, each with the exact report that
// it must cause; a rule that cannot fail is no rule.
package archtest
