package claims

import (
	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/locks/lab"
)

// The machine of Uffmann22: CoolMUC-2 with 28 processes on a node and FDR14.
const coolmuc = "coolmuc-2"

var coolmucTrees = []string{"node:1 core:28", "node:2 core:28", "node:4 core:28"}

// uffmann22 are the figures of Uffmann, chapters 4 and 5.
func uffmann22() []Study {
	return []Study{{
		Figure: "Uffmann22 benchmark 4.2", Title: "existing locks, empty section", Benchmark: "ECSB", Shows: lab.FigureThroughput, Machine: coolmuc, Trees: coolmucTrees, Turns: 50,
		Series: exclusively("D-MCS-Acc", "RMA-MCS"),
		Claims: []Claim{
			{Text: "D-MCS falls with the second node, RMA-MCS hardly", Judge: all(falls("D-MCS-Acc", 28, 56), faster(1, "RMA-MCS", 56, "D-MCS-Acc"))},
		},
	}, {
		Figure: "Uffmann22 §4.3.1", Title: "Put for Accumulate in D-MCS", Benchmark: "ECSB", Shows: lab.FigureThroughput, Machine: coolmuc, Trees: coolmucTrees, Turns: 50,
		Series: exclusively("D-MCS-Acc", "D-MCS"),
		Claims: []Claim{{Text: "handing over by Put is faster than by Accumulate", Judge: faster(1, "D-MCS", 28, "D-MCS-Acc")}},
	}, cohorts(), {
		Figure: "Uffmann22 benchmark 5.2", Title: "RH, empty section", Benchmark: "ECSB", Shows: lab.FigureThroughput, Machine: coolmuc, Trees: coolmucTrees, Turns: 50,
		Series: exclusively("RH", "D-MCS", "RMA-MCS"),
		Claims: []Claim{{Text: "RMA-MCS is faster than RH on several nodes", Judge: faster(1, "RMA-MCS", 56, "RH")}},
	}, {
		Figure: "Uffmann22 benchmark 5.8", Title: "CLH, free locks", Benchmark: "UPB", Shows: "1c", Machine: coolmuc, Trees: []string{"node:2 core:2"}, Turns: 1,
		Series: exclusively("MCS", "D-MCS", "CLH", "RMA-MCS"),
		Claims: []Claim{
			{Text: "a free CLH takes about twice as long as D-MCS from another node", Judge: about(2, "D-MCS", "CLH", 4)},
			{Text: "a free RMA-MCS is slower than a free D-MCS", Judge: faster(1, "D-MCS", 0, "RMA-MCS")},
		},
	}, {
		Figure: "Uffmann22 benchmark 5.11", Title: "local parts of cohort locks, empty section", Benchmark: "ECSB", Shows: "local hand-overs in node", Machine: coolmuc, Trees: coolmucTrees[2:], Turns: 100,
		Series: exclusively("C-MCS-MCS", "C-MCS-TTS", "C-TAS-MCS"),
		Claims: []Claim{
			{Text: "C-TAS-MCS waits less at the global lock than C-MCS-MCS", Judge: less(lab.FigureGlobal, "C-TAS-MCS", "C-MCS-MCS", 112)},
		},
	}, {
		Figure: "Uffmann22 benchmark 5.16", Title: "SHFL and its parts, empty section", Benchmark: "ECSB", Shows: lab.FigureThroughput, Machine: coolmuc, Trees: coolmucTrees[2:], Turns: 20,
		Series: exclusively("SHFL", "SHFL-TAS", "TTS-MCS", "TAS-MCS", "MCS"),
		Claims: []Claim{
			{Text: "SHFL is the slowest, then SHFL-TAS, TTS-MCS, TAS-MCS, and MCS is the fastest", Judge: ordered(112, "SHFL", "SHFL-TAS", "TTS-MCS", "TAS-MCS", "MCS")},
		},
	}, {
		Figure: "Uffmann22 benchmark 4.7", Title: "a wait before each acquire, 112 processes", Benchmark: "WBAB", Shows: lab.FigureIteration,
		Machine: coolmuc, Trees: coolmucTrees[2:], Steps: waits, Turns: 100, Series: exclusively("D-MCS-Acc", "RMA-MCS"),
		Claims: []Claim{
			{Text: "while ranks still wait for the lock, RMA-MCS is about 4 times as fast as D-MCS", Judge: about(4, "RMA-MCS", "D-MCS-Acc", .5)},
		},
	}, {
		Figure: "Uffmann22 benchmark 5.10", Title: "C-MCS-MCS and RMA-MCS with a wait before each acquire, 112 processes", Benchmark: "WBAB", Shows: lab.FigureIteration,
		Machine: coolmuc, Trees: coolmucTrees[2:], Steps: waits, Turns: 100,
		Series: []Contender{{Lock: "RMA-MCS", Writers: 1}, {"local count", "C-MCS-MCS", locks.Options{Count: locks.CountLocal, OwnNode: true}, 1}, {Lock: "C-MCS-MCS", Writers: 1}},
		Claims: []Claim{
			{Text: "with waits of 0.25 and 0.5 us RMA-MCS is faster than C-MCS-MCS with a local count", Judge: all(ordered(.25, "local count", "RMA-MCS"), ordered(.5, "local count", "RMA-MCS"))},
			{Text: "and C-MCS-MCS is about twice as fast as RMA-MCS", Judge: all(about(2, "C-MCS-MCS", "RMA-MCS", .25), about(2, "C-MCS-MCS", "RMA-MCS", .5)),
				Why: "C-MCS-MCS gains by direct accesses, as in benchmark 5.9. Without the 100 ns of a call it takes 367 and 635 ns, and RMA-MCS 548 and 757. If moreover each near operation takes MPI 400 ns more, RMA-MCS takes 1.20 us, and the factors are 3.3 and 1.9"},
		},
	}, {
		Figure: "Uffmann22 benchmark 5.13", Title: "cohort locks with a wait before each acquire, 112 processes", Benchmark: "WBAB", Shows: lab.FigureIteration,
		Machine: coolmuc, Trees: coolmucTrees[2:], Steps: waits, Turns: 100, Series: exclusively("C-TAS-MCS", "C-MCS-MCS", "C-TAS-TTS", "C-MCS-TTS"),
		Claims: []Claim{
			{Text: "without a wait a global TAS is faster than a global MCS", Judge: all(ordered(0, "C-MCS-MCS", "C-TAS-MCS"), ordered(0, "C-MCS-TTS", "C-TAS-TTS")),
				Why: "each rank makes as many iterations here, and a global TAS is fast by serving few. Played for 10 ms it is 2.0 and 1.9 times as fast"},
			{Text: "with a wait (here 0.5 us) it is the other way round", Judge: all(ordered(.5, "C-TAS-MCS", "C-MCS-MCS"), ordered(.5, "C-TAS-TTS", "C-MCS-TTS")),
				Why: "it is so with a local MCS. With a local TTS the local lock counts: played for 10 ms an iteration takes 2.77 and 3.11 us, and with a local MCS 0.92 and 0.62"},
		},
	}}
}

// waits are mean waits before an acquire, by the number of ranks, in microseconds.
var waits = []float64{0, .25, .5, 1, 2}

// cohorts are the four optimisations of §5.4.1, one after the other.
func cohorts() Study {
	return Study{
		Figure: "Uffmann22 benchmark 5.9", Title: "the four optimisations of C-MCS-MCS, empty section", Benchmark: "ECSB", Shows: lab.FigureThroughput, Machine: coolmuc, Trees: coolmucTrees, Turns: 100,
		Series: []Contender{
			{"RMA-MCS", "RMA-MCS", locks.Options{}, 1},
			{"global count", "C-MCS-MCS", locks.Options{Count: locks.CountGlobal, OwnNode: true}, 1},
			{"local count", "C-MCS-MCS", locks.Options{Count: locks.CountLocal, OwnNode: true}, 1},
			{"direct count", "C-MCS-MCS", locks.Options{Count: locks.CountDirect, OwnNode: true}, 1},
			{"inline count", "C-MCS-MCS", locks.Options{OwnNode: true}, 1},
			{"shared node", "C-MCS-MCS", locks.Options{}, 1},
		},
		Claims: []Claim{
			{Text: "each optimisation makes it faster", Judge: ordered(112, "global count", "local count", "direct count", "inline count", "shared node"),
				Why: "coolmuc-2 is described without instructions on shared memory, so a direct count is made by operations, as a local one is"},
			{Text: "C-MCS-MCS is about 4 times as fast as RMA-MCS at 112 processes", Judge: about(4, "shared node", "RMA-MCS", 112),
				Why: "C-MCS-MCS gains by direct accesses where RMA-MCS calls MPI, and coolmuc-2 is described with one price for both. Without the 100 ns of a call, C-MCS-MCS makes 5.3 M/s, 2.3 times RMA-MCS. If moreover each near operation takes MPI 400 ns more, RMA-MCS makes 0.68 M/s, and the factor is 7.7"},
		},
	}
}

// exclusively are locks with their default options.
func exclusively(names ...string) (all []Contender) {
	for _, name := range names {
		all = append(all, Contender{Lock: name, Writers: 1})
	}
	return all
}
