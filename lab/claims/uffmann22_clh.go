package claims

import (
	"time"

	"github.com/orwl/go-orwl/lab"
)

// ofCLH are the contenders of §5.3.3. Both CLHs are as printed.
func ofCLH() []Contender {
	return append(byCalls("D-MCS"), Contender{Name: "CLH", Lock: "CLH-printed", Writers: 1}, Contender{Name: "CLH-NUMA", Lock: "CLH-NUMA-printed", Writers: 1})
}

// freeCLH is CLH where no other rank wants it.
func freeCLH() Study {
	return Study{
		Figure: "Uffmann22 benchmark 5.5a", Title: "CLH, free locks", Benchmark: "UPB", Shows: "1c", Machine: coolmuc, Trees: coolmucPair, Turns: 1,
		Series: ofCLH(),
		Claims: []Claim{
			{Text: "a free CLH takes about twice as long as D-MCS from another node", Judge: aboutFrom(2, "c", "D-MCS", "CLH", 4),
				Why: "the nodes of four processes are near by chance here. The thesis says that the time depends on how often the lock was taken"},
			{Text: "so does a free CLH-NUMA", Judge: aboutFrom(2, "c", "D-MCS", "CLH-NUMA", 4)},
			{Text: "on the home's node the difference is larger", Judge: all(gainsMore("b", "c", "D-MCS", "CLH", 4), gainsMore("b", "c", "D-MCS", "CLH-NUMA", 4))},
		},
	}
}

// crowdedCLH is CLH where all ranks want it.
func crowdedCLH() Study {
	return Study{
		Figure: "Uffmann22 benchmark 5.5b", Title: "CLH, empty section", Benchmark: "ECSB", Shows: lab.FigureIteration, Machine: coolmuc, Trees: coolmucTrees[2:], Turns: 20,
		Series: ofCLH(),
		Claims: []Claim{
			{Text: "an iteration takes about 34 us with CLH and 4 with D-MCS", Judge: about(34./4, "D-MCS", "CLH", 112),
				Why: whyPolls},
			{Text: "and about 11 with CLH-NUMA", Judge: about(11./4, "D-MCS", "CLH-NUMA", 112)},
		},
	}
}

// workCLH is CLH with more and more work in the section.
func workCLH() Study {
	return Study{
		Figure: "Uffmann22 benchmark 5.6", Title: "CLH, more and more work in the section", Benchmark: "CCWB", Shows: lab.FigureIteration, Machine: coolmuc, Trees: coolmucFew,
		Steps: []float64{0, 2, 5}, Time: 30 * time.Millisecond, Series: ofCLH(),
		Claims: []Claim{
			{Text: "CLH-NUMA is the slowest with two operations in the section", Judge: all(ordered(2, "CLH-NUMA", "CLH"), ordered(2, "CLH-NUMA", "D-MCS"))},
			{Text: "CLH is the slowest once all wait", Judge: all(ordered(5, "CLH", "CLH-NUMA", "D-MCS")),
				Why: whyPolls},
		},
	}
}

// waitsCLH is CLH with short waits outside.
func waitsCLH() Study {
	return Study{
		Figure: "Uffmann22 benchmark 5.7", Title: "CLH with a wait before each acquire, 112 processes", Benchmark: "WBAB", Shows: lab.FigureIteration,
		Machine: coolmuc, Trees: coolmucTrees[2:], Steps: waits, Time: 10 * time.Millisecond, Series: ofCLH(),
		Claims: []Claim{
			{Text: "a little wait hardly changes D-MCS and CLH-NUMA (10 % here)", Judge: all(loses("D-MCS", 0, 2, .9, 1.1), loses("CLH-NUMA", 0, 2, .9, 1.1)),
				Why: "without a wait ranks keep the order in which they came first, and nearly all of D-MCS's hand-overs go to another node. With a wait some stay on the node"},
			{Text: "CLH gets faster with each longer wait", Judge: all(loses("CLH", 0, .5, 0, 1), loses("CLH", .5, 1, 0, 1), loses("CLH", 1, 2, 0, 1)),
				Why: whyPolls},
			{Text: "D-MCS is about twice as fast as CLH-NUMA while ranks wait (§5.3.3)", Judge: about(2, "D-MCS", "CLH-NUMA", 2)},
		},
	}
}

// longWaitsCLH is CLH where the lock is mostly free.
func longWaitsCLH() Study {
	return Study{
		Figure: "Uffmann22 benchmark 5.7b, c", Title: "CLH with longer waits, 112 processes", Benchmark: "WBAB", Shows: lab.FigureLatency,
		Machine: coolmuc, Trees: coolmucTrees[2:], Steps: []float64{8, 16, 32}, Time: 200 * time.Millisecond, Series: ofCLH(),
		Claims: []Claim{
			{Text: "where the lock is mostly free D-MCS takes about half of CLH", Judge: all(about(2, "D-MCS", "CLH", 16), about(2, "D-MCS", "CLH", 32))},
			{Text: "and about half of CLH-NUMA's", Judge: all(about(2, "D-MCS", "CLH-NUMA", 16), about(2, "D-MCS", "CLH-NUMA", 32))},
			{Text: "CLH takes less than CLH-NUMA (here with 16 and 32 us)", Judge: all(ordered(16, "CLH-NUMA", "CLH"), ordered(32, "CLH-NUMA", "CLH"))},
			{Text: "D-MCS finds the lock taken the least often, CLH-NUMA the most often", Judge: all(
				less(lab.FigureContended, "D-MCS", "CLH", 8), less(lab.FigureContended, "CLH", "CLH-NUMA", 8), less(lab.FigureContended, "D-MCS", "CLH", 16), less(lab.FigureContended, "CLH", "CLH-NUMA", 16)),
				Why: "with 8 us it is so. With 16 us the lock is mostly free: then CLH, which looks at its predecessor's node a round trip after it has lined up, finds it released a little more often"},
		},
	}
}
