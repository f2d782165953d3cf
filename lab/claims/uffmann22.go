package claims

import (
	"slices"
	"time"

	"github.com/orwl/go-orwl/lab"
	"github.com/orwl/go-orwl/locks"
)

// The machine of Uffmann22: CoolMUC-2 with 28 processes on a node and FDR14.
const coolmuc = "coolmuc-2"

var (
	coolmucTrees = []string{"node:1 core:28", "node:2 core:28", "node:4 core:28"}
	// coolmucPair are the processes of UPB.
	coolmucPair = []string{"node:2 core:2"}
	// coolmucFew are processes for CCWB, whose iterations get longer with their number.
	coolmucFew = []string{"node:4 core:7"}
)

// Why claims do not hold here.
const (
	whyShort = "a hand-over of C-MCS-MCS takes a third of the thesis's 0.5 us here, and no source says what its program does beside"
	whyPolls = "an adapter answers a remote look in 38 ns here. On the thesis's machine the target's process takes part (§4.2.4)"
	whyClear = "Hemlock's successor clears the word before it goes on, which is one more change of a line"
)

// waits are mean waits before an acquire, by the number of ranks, in microseconds.
var waits = []float64{0, .25, .5, 1, 2}

// uffmann22 are the figures of Uffmann, chapters 4 and 5.
func uffmann22() []Study {
	return slices.Concat(base003(), []Study{freeRH(), crowdedRH(), workRH(), waitsRH(), longWaitsRH()},
		[]Study{freeCLH(), crowdedCLH(), workCLH(), waitsCLH(), longWaitsCLH()},
		[]Study{freeCounts(), counts(), waitsCounts(), freeCohorts(), crowdedCohorts(), workCohorts(), waitsCohorts()},
		[]Study{workHemlock(), hemlock(), waitsHemlock(), freeSHFL(), crowdedSHFL(), nearSHFL("5.16c", "CCWB", 2, 5), nearSHFL("5.16d", "WBAB", .5, 2), workSHFL(), waitsSHFL()})
}

// base003 are the locks that there were before the thesis.
func base003() []Study {
	const dash = "dash::Mutex-FAO"
	base := append(exclusively("D-MCS-Acc", dash), programRMAMCS)
	return []Study{{
		Figure: "Uffmann22 benchmark 4.1", Title: "existing locks, free", Benchmark: "UPB", Shows: "1c", Machine: coolmuc, Trees: coolmucPair, Turns: 1, Series: base,
		Claims: []Claim{
			{Text: "each lock is slower from another node than from its home's", Judge: exceeds("1c", "1b", 4, "D-MCS-Acc", "RMA-MCS", dash)},
			{Text: "a free RMA-MCS is slower than a free D-MCS", Judge: all(faster(1, "D-MCS-Acc", 0, "RMA-MCS"), on("1b", faster(1, "D-MCS-Acc", 0, "RMA-MCS")))},
		},
	}, {
		Figure: "Uffmann22 benchmark 4.2", Title: "existing locks, empty section", Benchmark: "ECSB", Shows: lab.FigureThroughput, Machine: coolmuc, Trees: coolmucTrees, Turns: 50, Series: base,
		Claims: []Claim{
			{Text: "D-MCS falls with the second node, RMA-MCS hardly", Judge: all(falls("D-MCS-Acc", 28, 56), faster(1, "RMA-MCS", 56, "D-MCS-Acc"))},
			{Text: "D-MCS and RMA-MCS are faster than dash::Mutex on several nodes", Judge: all(faster(1, "D-MCS-Acc", 56, dash), faster(1, "RMA-MCS", 56, dash))},
		},
	}, {
		Figure: "Uffmann22 benchmark 4.3", Title: "fairness of existing locks, empty section", Benchmark: "ECSB", Shows: lab.FigureFairness, Machine: coolmuc, Trees: coolmucTrees[2:], Time: 20 * time.Millisecond, Series: base,
		Claims: []Claim{
			{Text: "each coefficient of variation is below 5 %", Judge: atMostOf(lab.FigureFairness, .05, 112, "D-MCS-Acc", "RMA-MCS", dash)},
			{Text: "RMA-MCS is less fair than D-MCS", Judge: less(lab.FigureFairness, "D-MCS-Acc", "RMA-MCS", 112),
				Why: "neither lets a rank come more often than another, and the coefficients shrink with the time"},
		},
	}, {
		Figure: "Uffmann22 benchmark 4.4", Title: "existing locks, more and more work in the section", Benchmark: "CCWB", Shows: lab.FigureIteration, Machine: coolmuc, Trees: coolmucFew,
		Steps: []float64{0, 2, 5}, Time: 30 * time.Millisecond, Series: base,
		Claims: []Claim{
			{Text: "D-MCS and RMA-MCS have less overhead than dash::Mutex", Judge: all(faster(1, "D-MCS-Acc", 2, dash), faster(1, "RMA-MCS", 2, dash))},
			{Text: "RMA-MCS is faster than D-MCS once ranks wait", Judge: faster(1, "RMA-MCS", 5, "D-MCS-Acc")},
			{Text: "each coefficient of variation is below 5 %, and less once ranks wait", Judge: all(
				atMostOf(lab.FigureFairness, .05, 0, "D-MCS-Acc", "RMA-MCS", dash), on(lab.FigureFairness, all(falls("D-MCS-Acc", 0, 5), falls("RMA-MCS", 0, 5), falls(dash, 0, 5))))},
		},
	}, {
		Figure: "Uffmann22 benchmark 4.7", Title: "a wait before each acquire, 112 processes", Benchmark: "WBAB", Shows: lab.FigureIteration,
		Machine: coolmuc, Trees: coolmucTrees[2:], Steps: waits, Turns: 100, Series: append(exclusively("D-MCS-Acc"), programRMAMCS),
		Claims: []Claim{
			{Text: "while ranks still wait for the lock, RMA-MCS is about 4 times as fast as D-MCS", Judge: about(4, "RMA-MCS", "D-MCS-Acc", .5)},
		},
	}, {
		Figure: "Uffmann22 benchmark 4.7b, c", Title: "longer waits before each acquire, 112 processes", Benchmark: "WBAB", Shows: lab.FigureLatency,
		Machine: coolmuc, Trees: coolmucTrees[2:], Steps: []float64{8, 32}, Time: 200 * time.Millisecond, Series: append(exclusively("D-MCS-Acc"), programRMAMCS),
		Claims: []Claim{
			{Text: "where the lock is mostly free D-MCS takes less than RMA-MCS", Judge: ordered(32, "RMA-MCS", "D-MCS-Acc")},
			{Text: "each coefficient of variation is below 2 %", Judge: atMostOf(lab.FigureFairness, .02, 8, "D-MCS-Acc", "RMA-MCS")},
		},
	}, {
		Figure: "Uffmann22 §4.3.1", Title: "Put for Accumulate in D-MCS", Benchmark: "ECSB", Shows: lab.FigureThroughput, Machine: coolmuc, Trees: coolmucTrees, Turns: 50,
		Series: exclusively("D-MCS-Acc", "D-MCS"),
		Claims: []Claim{{Text: "handing over by Put is faster than by Accumulate", Judge: faster(1, "D-MCS", 28, "D-MCS-Acc")}},
	}, {
		Figure: "Uffmann22 §4.3.2", Title: "Put for FetchOp in dash::Mutex", Benchmark: "ECSB", Shows: lab.FigureThroughput, Machine: coolmuc, Trees: coolmucTrees, Turns: 50,
		Series: exclusively(dash, "dash::Mutex"),
		Claims: []Claim{{Text: "making itself known by Put is faster than by FetchOp, on one node more than on several", Judge: all(
			faster(1, "dash::Mutex", 28, dash), gainsLess("dash::Mutex", dash, 28, 112)),
			Why: "a rank makes itself known long before its turn, so that is not on the way from one holder to the next"}},
	}, optimised("4.12a", coolmucTrees[:1], Claim{Text: "on one node the optimised D-MCS is faster than dash::Mutex", Judge: all(ordered(2, "dash::Mutex", "D-MCS"), ordered(5, "dash::Mutex", "D-MCS"))}),
		optimised("4.12b", coolmucFew, Claim{Text: "on four nodes dash::Mutex is faster than the optimised D-MCS", Judge: all(ordered(2, "D-MCS", "dash::Mutex"), ordered(5, "D-MCS", "dash::Mutex"))},
			Claim{Text: "and RMA-MCS faster than both once ranks wait", Judge: faster(1, "RMA-MCS", 5, "D-MCS", "dash::Mutex")})}
}

// optimised are the queues with all optimisations of §4.3, which reach a node's memory by instructions.
func optimised(figure string, trees []string, claims ...Claim) Study {
	return Study{
		Figure: "Uffmann22 benchmark " + figure, Title: "optimised queues, more and more work in the section", Benchmark: "CCWB", Shows: lab.FigureIteration, Machine: coolmuc, Trees: trees,
		Steps: []float64{2, 5}, Time: 30 * time.Millisecond, Series: append(exclusively("D-MCS", "dash::Mutex"), programRMAMCS), Claims: claims,
	}
}

// programRMAMCS is RMA-MCS as the program of HPDC16's authors has it, which Uffmann22 measures (§3.3, §5.4.2).
var programRMAMCS = Contender{Name: "RMA-MCS", Lock: "RMA-MCS-Acc", Writers: 1}

// byCalls are locks that reach each word by a call of MPI, also inside a node.
func byCalls(names ...string) (all []Contender) {
	for _, name := range names {
		all = append(all, Contender{Lock: name, Options: locks.Options{Operations: true}, Writers: 1})
	}
	return all
}

// exclusively are locks with their default options.
func exclusively(names ...string) (all []Contender) {
	for _, name := range names {
		all = append(all, Contender{Lock: name, Writers: 1})
	}
	return all
}
