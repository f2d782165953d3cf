package claims

import (
	"time"

	"github.com/orwl/go-orwl/lab"
	"github.com/orwl/go-orwl/locks"
)

// steps003 are C-MCS-MCS with one optimisation of §5.4.1 after the other, and RMA-MCS.
func steps003() []Contender {
	return []Contender{
		programRMAMCS,
		{"global count", "C-MCS-MCS", locks.Options{Count: locks.CountGlobal, OwnNode: true}, 1},
		{"local count", "C-MCS-MCS", locks.Options{Count: locks.CountLocal, OwnNode: true}, 1},
		{"direct count", "C-MCS-MCS", locks.Options{Count: locks.CountDirect, OwnNode: true}, 1},
		{"inline count", "C-MCS-MCS", locks.Options{OwnNode: true}, 1},
		{"shared node", "C-MCS-MCS", locks.Options{}, 1},
	}
}

// freeCounts are the optimisations where no other rank wants the lock.
func freeCounts() Study {
	return Study{
		Figure: "Uffmann22 benchmark 5.8", Title: "the four optimisations of C-MCS-MCS, free locks", Benchmark: "UPB", Shows: "1c", Machine: coolmuc, Trees: coolmucPair, Turns: 1, Series: steps003(),
		Claims: []Claim{
			{Text: "1: from another node a local count is faster than a global one", Judge: ordered(4, "global count", "local count")},
			{Text: "1: on the home's node it makes no difference (10 % here)", Judge: all(on("1a", withinAt(.1, 4, "global count", "local count")), on("1b", withinAt(.1, 4, "global count", "local count")))},
			{Text: "2: a direct count is faster than a local one", Judge: all(ordered(4, "local count", "direct count"), on("1b", ordered(4, "local count", "direct count")))},
			{Text: "3: an inline count is faster than a direct one", Judge: all(ordered(4, "direct count", "inline count"), on("1b", ordered(4, "direct count", "inline count")))},
			{Text: "4: with a shared node it is faster than RMA-MCS, at home and from another node", Judge: all(ordered(4, "RMA-MCS", "shared node"), on("1a", ordered(4, "RMA-MCS", "shared node")))},
		},
	}
}

// counts are the optimisations where all ranks want the lock.
func counts() Study {
	return Study{
		Figure: "Uffmann22 benchmark 5.9", Title: "the four optimisations of C-MCS-MCS, empty section", Benchmark: "ECSB", Shows: lab.FigureThroughput, Machine: coolmuc, Trees: coolmucTrees, Turns: 100, Series: steps003(),
		Claims: []Claim{
			{Text: "1: a local count is faster than a global one on several nodes", Judge: faster(1, "local count", 56, "global count")},
			{Text: "1: on one node it makes no difference (10 % here)", Judge: withinAt(.1, 28, "global count", "local count")},
			{Text: "2: a direct count is faster than a local one", Judge: faster(1, "direct count", 28, "local count")},
			{Text: "3: an inline count is faster than a direct one", Judge: faster(1, "inline count", 28, "direct count")},
			{Text: "4: a shared node that is found directly is faster", Judge: faster(1, "shared node", 56, "inline count"),
				Why: "the node is on the way once in 50 turns, when the lock leaves a node of the machine"},
			{Text: "C-MCS-MCS is about 4 times as fast as RMA-MCS at 112 processes", Judge: about(4, "shared node", "RMA-MCS", 112), Why: "a waiting rank calls MPI_Iprobe, 73 ns before each hand-over of either lock. RMA-MCS takes 0.7 us for one here, and 2 us in the thesis"},
		},
	}
}

// waitsCounts are the optimisations with short waits outside.
func waitsCounts() Study {
	return Study{
		Figure: "Uffmann22 benchmark 5.10", Title: "C-MCS-MCS and RMA-MCS with a wait before each acquire, 112 processes", Benchmark: "WBAB", Shows: lab.FigureIteration,
		Machine: coolmuc, Trees: coolmucTrees[2:], Steps: waits[:3], Turns: 100, Series: steps003(),
		Claims: []Claim{
			{Text: "1 and 3: a local count is faster than a global one, and an inline one than a direct one", Judge: all(ordered(.5, "global count", "local count"), ordered(.5, "direct count", "inline count"))},
			{Text: "2: a direct count is faster than a local one", Judge: ordered(.5, "local count", "direct count")},
			{Text: "RMA-MCS gets far faster with a little wait (a fifth at least with 0.25 us)", Judge: loses("RMA-MCS", 0, .25, 0, 1/1.2)},
			{Text: "the optimised C-MCS-MCS is faster with each wait", Judge: all(ordered(0, "RMA-MCS", "shared node"), ordered(.25, "RMA-MCS", "shared node"), ordered(.5, "RMA-MCS", "shared node"))},
			{Text: "with waits of 0.25 and 0.5 us RMA-MCS is faster than C-MCS-MCS with a local count", Judge: all(ordered(.25, "local count", "RMA-MCS"), ordered(.5, "local count", "RMA-MCS"))},
			{Text: "and C-MCS-MCS is about twice as fast as RMA-MCS", Judge: all(about(2, "shared node", "RMA-MCS", .25), about(2, "shared node", "RMA-MCS", .5)),
				Why: "with 0.5 us the wait itself is most of a turn of C-MCS-MCS"},
		},
	}
}

// nine are the cohort locks of §5.4.3.
func nine() []Contender {
	return exclusively("C-TAS-MCS", "C-MCS-MCS", "C-TKT-MCS", "C-TAS-TKT", "C-MCS-TKT", "C-TKT-TKT", "C-TAS-TTS", "C-MCS-TTS", "C-TKT-TTS")
}

// each claims something for each part of cohort locks, or for each lock.
func each(parts []string, judge func(part string) Judge) Judge {
	var judges []Judge
	for _, p := range parts {
		judges = append(judges, judge(p))
	}
	return all(judges...)
}

var (
	globals003 = []string{"TAS", "MCS", "TKT"}
	locals003  = []string{"MCS", "TKT", "TTS"}
)

// freeCohorts are the cohort locks where no other rank wants them.
func freeCohorts() Study {
	return Study{
		Figure: "Uffmann22 benchmark 5.11a", Title: "cohort locks, free", Benchmark: "UPB", Shows: "1c", Machine: coolmuc, Trees: coolmucPair, Turns: 1, Series: nine(),
		Claims: []Claim{
			{Text: "from another node a global TAS is the fastest, then MCS, then TKT", Judge: each(locals003, func(l string) Judge {
				return ordered(4, "C-TKT-"+l, "C-MCS-"+l, "C-TAS-"+l)
			})},
		},
	}
}

// crowdedCohorts are the cohort locks where all ranks want them.
func crowdedCohorts() Study {
	return Study{
		Figure: "Uffmann22 benchmark 5.11b", Title: "cohort locks, empty section", Benchmark: "ECSB", Shows: lab.FigureThroughput, Machine: coolmuc, Trees: coolmucTrees, Time: 5 * time.Millisecond, Series: nine(),
		Claims: []Claim{
			{Text: "with a local MCS or TKT the number of nodes hardly matters (25 % here)", Judge: each(globals003, func(g string) Judge {
				return all(loses("C-"+g+"-MCS", 28, 112, .75, 1.25), loses("C-"+g+"-TKT", 28, 112, .75, 1.25))
			}), Why: whyShort + ". So one turn of 50 that leaves the node weighs more"},
			{Text: "C-TAS-TTS and C-TKT-TTS get slower with each node, C-MCS-TTS does not", Judge: all(
				falls("C-TAS-TTS", 28, 56), falls("C-TAS-TTS", 56, 112), falls("C-TKT-TTS", 28, 56), falls("C-TKT-TTS", 56, 112), rises("C-MCS-TTS", 28, 112))},
			{Text: "a local MCS is the fastest, then TKT, then TTS", Judge: each(globals003, func(g string) Judge {
				return ordered(112, "C-"+g+"-TTS", "C-"+g+"-TKT", "C-"+g+"-MCS")
			})},
			{Text: "a local TKT is about half as fast as MCS", Judge: each(globals003, func(g string) Judge { return about(2, "C-"+g+"-MCS", "C-"+g+"-TKT", 112) }),
				Why: "the first waiter of a node fetches the changed word, and the others get copies, which takes 22 ns for 28 of them. The thesis's nodes have two sockets, and each look is beside a call"},
			{Text: "a global TAS is the fastest, then MCS, then TKT", Judge: each(locals003, func(l string) Judge {
				return ordered(112, "C-TKT-"+l, "C-MCS-"+l, "C-TAS-"+l)
			})},
		},
	}
}

// workCohorts are the cohort locks with more and more work in the section.
func workCohorts() Study {
	fair := on(lab.FigureFairness, each(locals003, func(l string) Judge { return all(falls("C-MCS-"+l, 0, 5), falls("C-TKT-"+l, 0, 5)) }))
	return Study{
		Figure: "Uffmann22 benchmark 5.12", Title: "cohort locks, more and more work in the section", Benchmark: "CCWB", Shows: lab.FigureIteration, Machine: coolmuc, Trees: coolmucFew,
		Steps: []float64{0, 5}, Time: 20 * time.Millisecond, Series: nine(),
		Claims: []Claim{
			{Text: "once ranks wait a global TAS is slower than a global MCS", Judge: each(locals003, func(l string) Judge { return ordered(5, "C-TAS-"+l, "C-MCS-"+l) })},
			{Text: "C-TAS-TTS is slower than C-TKT-TTS", Judge: ordered(5, "C-TAS-TTS", "C-TKT-TTS")},
			{Text: "with more work in the section a global TAS gets less fair, up to about 25 %", Judge: all(
				on(lab.FigureFairness, each(locals003, func(l string) Judge { return rises("C-TAS-"+l, 0, 5) })), atMostOf(lab.FigureFairness, 1.5*.25, 5, "C-TAS-MCS", "C-TAS-TKT", "C-TAS-TTS"))},
			{Text: "and a global MCS or TKT gets fairer", Judge: fair},
		},
	}
}

// waitsCohorts are the cohort locks with waits outside.
func waitsCohorts() Study {
	return Study{
		Figure: "Uffmann22 benchmark 5.13", Title: "cohort locks with a wait before each acquire, 112 processes", Benchmark: "WBAB", Shows: lab.FigureIteration,
		Machine: coolmuc, Trees: coolmucTrees[2:], Steps: []float64{0, .5, 2}, Time: 5 * time.Millisecond, Series: nine(),
		Claims: []Claim{
			{Text: "without a wait a global TAS is faster than a global MCS", Judge: each(locals003, func(l string) Judge { return ordered(0, "C-MCS-"+l, "C-TAS-"+l) })},
			{Text: "with a wait (here 0.5 us) it is the other way round", Judge: each(locals003, func(l string) Judge { return ordered(.5, "C-TAS-"+l, "C-MCS-"+l) })},
			{Text: "without a wait a global TAS is extremely unfair: a coefficient of variation up to 100 % (50 to 150 here)", Judge: reaches(lab.FigureFairness, .5, tolerance, 0, "C-TAS-MCS", "C-TAS-TKT", "C-TAS-TTS"),
				Why: whyAgain + "Where one node of four has it all the time it is 173 %, and where one rank has it, 1,058"},
			{Text: "without a wait few find a global TAS taken, and all a global MCS or TKT (10 and 99 % here)", Judge: all(
				atMostOf(lab.FigureGlobal, .1, 0, "C-TAS-MCS", "C-TAS-TKT", "C-TAS-TTS"),
				atLeast(lab.FigureGlobal, .99, 0, "C-MCS-MCS", "C-MCS-TKT", "C-MCS-TTS", "C-TKT-MCS", "C-TKT-TKT", "C-TKT-TTS"))},
			{Text: "a local TTS hands over inside its node at most every second time", Judge: all(
				atMostOf(lab.FigurePassed, .5, 0, "C-TAS-TTS", "C-MCS-TTS", "C-TKT-TTS"), atMostOf(lab.FigurePassed, .5, .5, "C-TAS-TTS", "C-MCS-TTS", "C-TKT-TTS")),
				Why: "TTS counts its waiters here. The printed one has a flag, which waiters set again too late"},
			{Text: "with short waits the local lock decides: MCS, then TKT, then TTS", Judge: each(globals003, func(g string) Judge {
				return ordered(.5, "C-"+g+"-TTS", "C-"+g+"-TKT", "C-"+g+"-MCS")
			}), Why: whyShort + ". So with 0.5 us the wait decides, and MCS and TKT differ by 1 %"},
			{Text: "with longer ones (here 2 us) the global one: a local TKT has the overhead of MCS (10 % here)", Judge: on(lab.FigureIteration, each(globals003, func(g string) Judge {
				return withinAt(.1, 2, "C-"+g+"-MCS", "C-"+g+"-TKT")
			}))},
		},
	}
}
