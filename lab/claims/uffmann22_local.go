package claims

import (
	"fmt"
	"time"

	"github.com/orwl/go-orwl/lab"
)

// localQueues are cohort locks whose local lock is a queue (§5.4.4). Their counts are inline.
func localQueues() []Contender {
	return exclusively("C-MCS-MCS", "C-MCS-CLH", "C-MCS-HEM", "C-MCS-HEM-AH")
}

// workHemlock is Hemlock inside a cohort lock, with more and more work in the section.
func workHemlock() Study {
	return Study{
		Figure: "Uffmann22 benchmark 5.14", Title: "C-MCS-HEM, more and more work in the section, 28 processes", Benchmark: "CCWB", Shows: lab.FigureIteration, Machine: coolmuc, Trees: coolmucTrees[:1],
		Steps: []float64{0, 5}, Time: 3 * time.Millisecond, Series: localQueues(),
		Claims: []Claim{
			{Text: "a local CLH is slower than a local MCS", Judge: ordered(5, "C-MCS-CLH", "C-MCS-MCS")},
			{Text: "AH makes C-MCS-HEM faster", Judge: ordered(5, "C-MCS-HEM", "C-MCS-HEM-AH")},
			{Text: "C-MCS-HEM with CTR, AH and an inline count is the fastest", Judge: faster(1, "C-MCS-HEM-AH", 5, "C-MCS-MCS", "C-MCS-CLH", "C-MCS-HEM"),
				Why: whyClear},
		},
	}
}

// hemlock is Hemlock with one optimisation after the other. The thesis has them inside a cohort lock.
func hemlock() Study {
	return Study{
		Figure: "Uffmann22 §5.4.4", Title: "the optimisations of Hemlock, without a cohort, 28 processes", Benchmark: "CCWB", Shows: lab.FigureIteration, Machine: coolmuc, Trees: coolmucTrees[:1],
		Steps: []float64{0, 5}, Time: 3 * time.Millisecond, Series: exclusively("HEM-printed", "HEM-Overlap", "HEM", "HEM-CTR", "HEM-AH"),
		Claims: []Claim{
			{Text: "Overlap gains nothing (1 % here)", Judge: withinAt(.01, 5, "HEM-printed", "HEM-Overlap")},
			{Text: "CTR gains", Judge: ordered(5, "HEM", "HEM-CTR"), Why: "with the call of MPI_Iprobe in each turn of a waiting loop the two are alike. Without it CTR gains"},
			{Text: "AH gains more", Judge: ordered(5, "HEM-CTR", "HEM-AH")},
		},
	}
}

// waitsHemlock is Hemlock inside a cohort lock, with short waits outside.
func waitsHemlock() Study {
	return Study{
		Figure: "Uffmann22 benchmark 5.15", Title: "C-MCS-HEM with a wait before each acquire, 112 processes", Benchmark: "WBAB", Shows: lab.FigureIteration,
		Machine: coolmuc, Trees: coolmucTrees[2:], Steps: []float64{0, .25, 1}, Time: 10 * time.Millisecond, Series: localQueues(),
		Claims: []Claim{
			{Text: "without a wait a local MCS is the fastest", Judge: all(ordered(0, "C-MCS-CLH", "C-MCS-MCS"), ordered(0, "C-MCS-HEM-AH", "C-MCS-MCS"))},
			{Text: "with 0.25 us CLH and the optimised Hemlock are faster", Judge: all(ordered(.25, "C-MCS-MCS", "C-MCS-CLH"), ordered(.25, "C-MCS-MCS", "C-MCS-HEM-AH")),
				Why: whyClear + ". CLH and MCS differ by 1 %"},
			{Text: "with longer waits there is no difference (5 % here)", Judge: withinAt(.05, 1, "C-MCS-MCS", "C-MCS-CLH", "C-MCS-HEM-AH")},
		},
	}
}

// ofSHFL are SHFL and its parts, from the slowest in the thesis to the fastest.
func ofSHFL() []Contender { return byCalls("SHFL", "SHFL-TAS", "TTS-MCS", "TAS-MCS", "MCS") }

// freeSHFL is SHFL where no other rank wants it.
func freeSHFL() Study {
	return Study{
		Figure: "Uffmann22 benchmark 5.16a", Title: "SHFL and its parts, free locks", Benchmark: "UPB", Shows: "1c", Machine: coolmuc, Trees: coolmucPair, Turns: 1, Series: ofSHFL(),
		Claims: []Claim{
			{Text: "the variants with TTS are slower than those with TAS, from another node more than at home", Judge: all(
				ordered(4, "SHFL", "SHFL-TAS"), ordered(4, "TTS-MCS", "TAS-MCS"), on("1a", all(ordered(4, "SHFL", "SHFL-TAS"), ordered(4, "TTS-MCS", "TAS-MCS"))))},
		},
	}
}

// crowdedSHFL is SHFL where all ranks want it.
func crowdedSHFL() Study {
	return Study{
		Figure: "Uffmann22 benchmark 5.16b", Title: "SHFL and its parts, empty section", Benchmark: "ECSB", Shows: lab.FigureThroughput, Machine: coolmuc, Trees: coolmucTrees[2:], Turns: 20, Series: ofSHFL(),
		Claims: []Claim{
			{Text: "SHFL is the slowest, then SHFL-TAS, TTS-MCS, TAS-MCS, and MCS is the fastest", Judge: ordered(112, "SHFL", "SHFL-TAS", "TTS-MCS", "TAS-MCS", "MCS")},
			{Text: "MCS is more than 6 times as fast as SHFL", Judge: faster(6, "MCS", 112, "SHFL")},
		},
	}
}

// nearSHFL is SHFL on one node, where TTS is the faster lock for itself.
func nearSHFL(figure, bench string, steps ...float64) Study {
	s := Study{
		Figure: "Uffmann22 benchmark " + figure, Title: "SHFL with TTS and with TAS on one node, " + bench, Benchmark: bench, Shows: lab.FigureIteration, Machine: coolmuc, Trees: coolmucTrees[:1],
		Steps: steps, Time: 5 * time.Millisecond, Series: byCalls("SHFL", "SHFL-TAS", "TTS-MCS", "TAS-MCS"),
	}
	for _, step := range steps {
		s.Claims = append(s.Claims, Claim{Text: fmt.Sprintf("SHFL with TAS is faster than with TTS on one node, too (here %g)", step), Judge: ordered(step, "SHFL", "SHFL-TAS")})
	}
	return s
}

// workSHFL is SHFL with more and more work in the section.
func workSHFL() Study {
	return Study{
		Figure: "Uffmann22 benchmark 5.16e", Title: "SHFL and its parts, more and more work in the section", Benchmark: "CCWB", Shows: lab.FigureIteration, Machine: coolmuc, Trees: coolmucFew,
		Steps: []float64{2, 5}, Time: 20 * time.Millisecond, Series: ofSHFL(),
		Claims: []Claim{
			{Text: "MCS is the fastest", Judge: faster(1, "MCS", 2, "SHFL", "SHFL-TAS", "TTS-MCS", "TAS-MCS")},
			{Text: "SHFL is the slowest with two operations in the section", Judge: all(ordered(2, "SHFL", "SHFL-TAS"), ordered(2, "SHFL", "TTS-MCS"), ordered(2, "SHFL", "TAS-MCS"))},
			{Text: "and with five", Judge: all(ordered(5, "SHFL", "SHFL-TAS"), ordered(5, "SHFL", "TTS-MCS"), ordered(5, "SHFL", "TAS-MCS")),
				Why: "a section of five operations takes 47 us, and the sorting ends within it. With two operations SHFL is the slowest"},
		},
	}
}

// waitsSHFL is SHFL with short waits outside.
func waitsSHFL() Study {
	return Study{
		Figure: "Uffmann22 benchmark 5.16f", Title: "SHFL and its parts with a wait before each acquire, 112 processes", Benchmark: "WBAB", Shows: lab.FigureIteration,
		Machine: coolmuc, Trees: coolmucTrees[2:], Steps: []float64{.5, 2}, Turns: 20, Series: ofSHFL(),
		Claims: []Claim{
			{Text: "SHFL is the slowest, and MCS is the fastest", Judge: all(faster(1, "MCS", .5, "SHFL", "SHFL-TAS", "TTS-MCS", "TAS-MCS"), ordered(2, "SHFL", "SHFL-TAS"), ordered(2, "SHFL", "TTS-MCS"), ordered(2, "SHFL", "TAS-MCS"))},
		},
	}
}
