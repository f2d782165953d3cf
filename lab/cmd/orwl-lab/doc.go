// Command orwl-lab is the laboratory: what measures, predicts and explores the locks and the tasks of go-orwl.
//
//	orwl-lab bench        run the papers' benchmarks of locks, on any window
//	orwl-lab predict      play them on a described machine, in virtual time
//	orwl-lab model        measure what this machine's operations cost, or validate predictions
//	orwl-lab reproduce    play the papers' figures again, and say which of their claims hold
//	orwl-lab tune         find a lock and its options for a workload
//	orwl-lab taskbench    run Task Bench's task graphs, and find the smallest task that pays
//	orwl-lab sim          give a lock to the simulator and see whether it keeps its promises
//	orwl-lab experiments  make the four experiments of the paper about ordered read-write locks
//
// Each has -h. It is installed in the folder lab by go install ./cmd/orwl-lab.
//
// The exit code is 0 when all is well, 1 when something failed or is wrong, 2 when the command line
// makes no sense, and 130 after Ctrl-C.
package main
