package claims

import (
	"time"

	"github.com/orwl/go-orwl/lab"
)

// freeCLH is CLH where no other rank wants it.
func freeCLH() Study {
	return Study{
		Figure: "Uffmann22 benchmark 5.5a", Title: "CLH, free locks", Benchmark: "UPB", Shows: "1c", Machine: coolmuc, Trees: coolmucPair, Turns: 1,
		Series: byCalls("D-MCS", "CLH", "CLH-NUMA"),
		Claims: []Claim{
			{Text: "a free CLH takes about twice as long as D-MCS from another node", Judge: aboutFrom(2, "c", "D-MCS", "CLH", 4)},
			{Text: "so does a free CLH-NUMA", Judge: aboutFrom(2, "c", "D-MCS", "CLH-NUMA", 4),
				Why: "the nodes of four processes are near by chance here. Where they have travelled (benchmark 5.7b, 32 us) it takes 1.42 times as long, and 1.80 with the store of the printed lock, which turns replace"},
			{Text: "on the home's node the difference is larger", Judge: all(gainsMore("b", "c", "D-MCS", "CLH", 4), gainsMore("b", "c", "D-MCS", "CLH-NUMA", 4))},
		},
	}
}

// crowdedCLH is CLH where all ranks want it.
func crowdedCLH() Study {
	return Study{
		Figure: "Uffmann22 benchmark 5.5b", Title: "CLH, empty section", Benchmark: "ECSB", Shows: lab.FigureIteration, Machine: coolmuc, Trees: coolmucTrees[2:], Turns: 20,
		Series: byCalls("D-MCS", "CLH", "CLH-NUMA"),
		Claims: []Claim{
			{Text: "an iteration takes about 34 us with CLH and 4 with D-MCS", Judge: about(34./4, "D-MCS", "CLH", 112),
				Why: whyPolls + "With 400 ns it is 4.3 times, and with 1 us 11.2"},
			{Text: "and about 11 with CLH-NUMA", Judge: about(11./4, "D-MCS", "CLH-NUMA", 112)},
		},
	}
}

// workCLH is CLH with more and more work in the section.
func workCLH() Study {
	return Study{
		Figure: "Uffmann22 benchmark 5.6", Title: "CLH, more and more work in the section", Benchmark: "CCWB", Shows: lab.FigureIteration, Machine: coolmuc, Trees: coolmucFew,
		Steps: []float64{0, 2, 5}, Time: 30 * time.Millisecond, Series: byCalls("D-MCS", "CLH", "CLH-NUMA"),
		Claims: []Claim{
			{Text: "CLH-NUMA is the slowest with two operations in the section", Judge: all(ordered(2, "CLH-NUMA", "CLH"), ordered(2, "CLH-NUMA", "D-MCS"))},
			{Text: "CLH is the slowest once all wait", Judge: all(ordered(5, "CLH", "CLH-NUMA", "D-MCS")),
				Why: whyPolls + "With 1 us CLH takes 1.3 times as long as CLH-NUMA"},
		},
	}
}

// waitsCLH is CLH with short waits outside.
func waitsCLH() Study {
	return Study{
		Figure: "Uffmann22 benchmark 5.7", Title: "CLH with a wait before each acquire, 112 processes", Benchmark: "WBAB", Shows: lab.FigureIteration,
		Machine: coolmuc, Trees: coolmucTrees[2:], Steps: waits, Time: 10 * time.Millisecond, Series: byCalls("D-MCS", "CLH", "CLH-NUMA"),
		Claims: []Claim{
			{Text: "a little wait hardly changes D-MCS and CLH-NUMA (10 % here)", Judge: all(loses("D-MCS", 0, 2, .9, 1.1), loses("CLH-NUMA", 0, 2, .9, 1.1)),
				Why: "without a wait ranks keep the order in which they came first, and 99 % of D-MCS's hand-overs go to another node. With a wait 24 % stay on the node"},
			{Text: "CLH gets faster with each longer wait", Judge: all(loses("CLH", 0, .5, 0, 1), loses("CLH", .5, 1, 0, 1), loses("CLH", 1, 2, 0, 1)),
				Why: whyPolls + "With 400 ns for a Get it does: 0.86, 0.99 and 0.80"},
			{Text: "D-MCS is about twice as fast as CLH-NUMA while ranks wait (§5.3.3)", Judge: about(2, "D-MCS", "CLH-NUMA", 2)},
		},
	}
}

// longWaitsCLH is CLH where the lock is mostly free.
func longWaitsCLH() Study {
	return Study{
		Figure: "Uffmann22 benchmark 5.7b, c", Title: "CLH with longer waits, 112 processes", Benchmark: "WBAB", Shows: lab.FigureLatency,
		Machine: coolmuc, Trees: coolmucTrees[2:], Steps: []float64{8, 16, 32}, Time: 200 * time.Millisecond, Series: byCalls("D-MCS", "CLH", "CLH-NUMA"),
		Claims: []Claim{
			{Text: "where the lock is mostly free D-MCS takes about half of CLH", Judge: all(about(2, "D-MCS", "CLH", 16), about(2, "D-MCS", "CLH", 32))},
			{Text: "and about half of CLH-NUMA's", Judge: all(about(2, "D-MCS", "CLH-NUMA", 16), about(2, "D-MCS", "CLH-NUMA", 32))},
			{Text: "CLH takes less than CLH-NUMA (here with 16 and 32 us)", Judge: all(ordered(16, "CLH-NUMA", "CLH"), ordered(32, "CLH-NUMA", "CLH")),
				Why: "a release looks at the tail, to tell the window of a hand-over. The printed lock does not. Without that look CLH is 1.16 and 1.10 times as fast as CLH-NUMA"},
			{Text: "D-MCS finds the lock taken the least often, CLH-NUMA the most often", Judge: all(
				less(lab.FigureContended, "D-MCS", "CLH", 8), less(lab.FigureContended, "CLH", "CLH-NUMA", 8), less(lab.FigureContended, "D-MCS", "CLH", 16), less(lab.FigureContended, "CLH", "CLH-NUMA", 16)),
				Why: "with 8 us it is so. With 16 us the lock is mostly free: then CLH, which looks at its predecessor's node a round trip after it has lined up, finds it released a little more often"},
		},
	}
}
