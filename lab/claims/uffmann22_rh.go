package claims

import (
	"time"

	"github.com/orwl/go-orwl/lab"
	"github.com/orwl/go-orwl/locks"
)

// fairRH is RH that lets the lock go to any node after so many acquisitions in a row: the fairness factor. Pauses
// grow to 32 inside a node, and there are none outside, as in §5.2.2.
func fairRH(name string, factor int) Contender {
	return Contender{name, "RH-printed", locks.Options{TL: []int{locks.DefaultTL, factor}, Backoff: locks.Backoff{Min: 1, Max: 32}}, 1}
}

// ofRH are the contenders of §5.2.2.
func ofRH() []Contender {
	return append([]Contender{fairRH("RH 1", 1), fairRH("RH 2", 2), fairRH("RH 100", 100)}, append(exclusively("D-MCS"), programRMAMCS)...)
}

// whyAgain is why one rank takes a lock without order again and again.
const whyAgain = "the rank that has let the lock go takes it again at once, before a waiter has fetched the word. "

var rhs = []string{"RH 1", "RH 2", "RH 100"}

// freeRH is RH where no other rank wants it.
func freeRH() Study {
	return Study{
		Figure: "Uffmann22 benchmark 5.1", Title: "RH, free locks", Benchmark: "UPB", Shows: "1c", Machine: coolmuc, Trees: coolmucPair, Turns: 1,
		Series: append([]Contender{fairRH("RH", 1)}, append(exclusively("D-MCS"), programRMAMCS)...),
		Claims: []Claim{
			{Text: "away from the home RH is faster than D-MCS and RMA-MCS if its own node had it last", Judge: all(
				faster(1, "RH", 0, "D-MCS", "RMA-MCS"), on("2c", faster(1, "RH", 0, "D-MCS", "RMA-MCS")))},
			{Text: "RH is slower if another node had it last", Judge: all(exceeds("3a", "1a", 4, "RH"), exceeds("3b", "1b", 4, "RH"), exceeds("3c", "1c", 4, "RH"))},
			{Text: "D-MCS and RMA-MCS are slower if the home is on another node", Judge: all(exceeds("1c", "1b", 4, "D-MCS", "RMA-MCS"), exceeds("3c", "3b", 4, "D-MCS", "RMA-MCS"))},
			{Text: "a rank that is not its node's first one takes longer", Judge: all(exceeds("1b", "1a", 4, "RH"), exceeds("2b", "2a", 4, "RH"), exceeds("3b", "3a", 4, "RH")), Why: "1b and 1a take the same: a rank has the line of its node's status in its cache after its last turn"},
			{Text: "RH has no home: 1c takes as long as 1a, and 3c as 3a", Judge: all(alike(.1, "RH", 4, "1a", "1c"), alike(.1, "RH", 4, "3a", "3c"))},
		},
	}
}

// crowdedRH is RH where all ranks want it.
func crowdedRH() Study {
	return Study{
		Figure: "Uffmann22 benchmark 5.2", Title: "RH, empty section", Benchmark: "ECSB", Shows: lab.FigureThroughput, Machine: coolmuc, Trees: coolmucTrees, Time: 5 * time.Millisecond, Series: ofRH(),
		Claims: []Claim{
			{Text: "RMA-MCS is faster than RH on several nodes", Judge: faster(1, "RMA-MCS", 56, "RH 1", "RH 2", "RH 100"),
				Why: "one rank takes RH again and again, for two calls each time, and the CAS of other nodes do not delay it: the adapter's unit for atomics is not the processor's"},
			{Text: "RH is faster than D-MCS on several nodes", Judge: all(faster(1, "RH 1", 56, "D-MCS"), faster(1, "RH 2", 56, "D-MCS"), faster(1, "RH 100", 56, "D-MCS"))},
			{Text: "RMA-MCS is the slowest on one node", Judge: all(ordered(28, "RMA-MCS", "D-MCS"), ordered(28, "RMA-MCS", "RH 1"), ordered(28, "RMA-MCS", "RH 100"))},
			{Text: "RH is unfair on several nodes: a coefficient of variation of nearly 40 to 460 %", Judge: all(
				reaches(lab.FigureFairness, .35, 4.6, 56, "RH 1", "RH 2", "RH 100"), reaches(lab.FigureFairness, .35, 4.6, 112, "RH 1", "RH 2", "RH 100")),
				Why: "RH 100 has 481 % on two nodes. The thesis's 460 % is of one node, and its several nodes are fairer"},
			{Text: "on one node RH is more unfair still", Judge: all(on(lab.FigureFairness, all(falls("RH 1", 28, 112), falls("RH 2", 28, 112), falls("RH 100", 28, 112))))},
			{Text: "D-MCS and RMA-MCS are fair (10 % here: a rank of D-MCS comes nine times)", Judge: atMostOf(lab.FigureFairness, .1, 112, "D-MCS", "RMA-MCS")},
			{Text: "a higher fairness factor is less fair on several nodes", Judge: all(
				reaches(lab.FigureFairness, 0, 4.6, 112, "RH 1", "RH 2", "RH 100"), less(lab.FigureFairness, "RH 1", "RH 2", 112), less(lab.FigureFairness, "RH 1", "RH 100", 112))},
			{Text: "and faster", Judge: ordered(112, "RH 1", "RH 2", "RH 100")},
		},
	}
}

// workRH is RH with more and more work in the section.
func workRH() Study {
	return Study{
		Figure: "Uffmann22 benchmark 5.3", Title: "RH, more and more work in the section", Benchmark: "CCWB", Shows: lab.FigureIteration, Machine: coolmuc, Trees: coolmucFew,
		Steps: []float64{0, 5}, Time: 60 * time.Millisecond, Series: ofRH(),
		Claims: []Claim{
			{Text: "once ranks wait RH is less fair than D-MCS and RMA-MCS", Judge: all(less(lab.FigureFairness, "D-MCS", "RH 1", 5), less(lab.FigureFairness, "RMA-MCS", "RH 1", 5),
				less(lab.FigureFairness, "D-MCS", "RH 100", 5), less(lab.FigureFairness, "RMA-MCS", "RH 100", 5))},
			{Text: "with more work in the section RH gets less fair, D-MCS and RMA-MCS fairer", Judge: on(lab.FigureFairness, all(
				rises("RH 1", 0, 5), rises("RH 2", 0, 5), rises("RH 100", 0, 5), falls("D-MCS", 0, 5), falls("RMA-MCS", 0, 5)))},
			{Text: "but far less unfair than in ECSB (here: below 40 %)", Judge: atMostOf(lab.FigureFairness, .4, 5, "RH 1", "RH 2", "RH 100")},
			{Text: "a higher fairness factor is slower once ranks wait (by 1 % here)", Judge: faster(1.01, "RH 1", 5, "RH 2", "RH 100"),
				Why: "a factor of 1 spares a CAS of 0.3 us, and the section takes 47 us"},
			{Text: "and less fair", Judge: all(less(lab.FigureFairness, "RH 1", "RH 2", 5), less(lab.FigureFairness, "RH 1", "RH 100", 5)),
				Why: "in a section of 47 us ranks of any node come for the lock. So the coefficients are small with any factor"},
		},
	}
}

// waitsRH is RH with short waits outside.
func waitsRH() Study {
	return Study{
		Figure: "Uffmann22 benchmark 5.4", Title: "RH with a wait before each acquire, 112 processes", Benchmark: "WBAB", Shows: lab.FigureIteration,
		Machine: coolmuc, Trees: coolmucTrees[2:], Steps: []float64{0, .5, 2}, Time: 10 * time.Millisecond, Series: ofRH(),
		Claims: []Claim{
			{Text: "RH is fairer with a wait than without, where it is not above 460 %", Judge: all(reaches(lab.FigureFairness, 0, 4.6, 0, "RH 1", "RH 2", "RH 100"),
				on(lab.FigureFairness, all(falls("RH 1", 0, .5), falls("RH 2", 0, .5), falls("RH 100", 0, .5))))},
			{Text: "with a wait RH is slower than D-MCS", Judge: all(ordered(.5, "RH 1", "D-MCS"), ordered(.5, "RH 2", "D-MCS"), ordered(.5, "RH 100", "D-MCS"))},
			{Text: "a higher fairness factor is slower", Judge: all(ordered(.5, "RH 2", "RH 1"), ordered(.5, "RH 100", "RH 1"))},
			{Text: "no RH finds the lock taken much more often than 90 % (95 here), and without a wait less often", Judge: all(
				atMostOf(lab.FigureContended, .95, .5, "RH 1", "RH 2", "RH 100"), on(lab.FigureContended, all(rises("RH 1", 0, .5), rises("RH 2", 0, .5), rises("RH 100", 0, .5))))},
		},
	}
}

// longWaitsRH is RH where the lock is mostly free.
func longWaitsRH() Study {
	return Study{
		Figure: "Uffmann22 benchmark 5.4b, c", Title: "RH with longer waits, 112 processes", Benchmark: "WBAB", Shows: lab.FigureLatency,
		Machine: coolmuc, Trees: coolmucTrees[2:], Steps: []float64{8, 32}, Time: 200 * time.Millisecond, Series: ofRH(),
		Claims: []Claim{
			{Text: "where the lock is mostly free (here 8 us) RH takes less than D-MCS and RMA-MCS", Judge: each(rhs, func(rh string) Judge {
				return all(ordered(8, "D-MCS", rh), ordered(8, "RMA-MCS", rh))
			})},
			{Text: "so with 32 us", Judge: each(rhs, func(rh string) Judge { return faster(1, rh, 32, "D-MCS", "RMA-MCS") })},
			{Text: "and is as fair (5 % here)", Judge: atMostOf(lab.FigureFairness, .05, 8, "RH 1", "RH 2", "RH 100")},
		},
	}
}
