// Command steady asks whether tests fail by chance: .ci/steady.
//
// It runs the tests of processes, networks and leases again and again, on a machine that treats
// them badly in one of three ways:
//
//	busy     eight processes compute beside
//	quota    all processes of the test have a third of a processor together
//	pauses   single processes are paused, for up to 300 ms each time
//
// A pause is made by the freezer of a control group, not by signals. So a process that the test
// itself has stopped stays stopped. It needs Linux and the right to make control groups.
//
// The suspects are tests that have failed by chance before, or look as if they could. They run 300
// times in each way; the whole packages run 20 times, shuffled. Whatever has run for this commit is
// noted in .steady/COMMIT, so the command can be stopped and started again. It ends with a table.
package main
