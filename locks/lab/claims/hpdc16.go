package claims

import (
	"slices"

	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/locks/lab"
)

// The machines of HPDC16: Piz Daint with 16 processes on a node.
const daint = "piz-daint"

var daintTrees = []string{"node:1 core:8", "node:1 core:16", "node:2 core:16", "node:4 core:16", "node:16 core:16", "node:64 core:16"}

// hpdc16 are the figures of Schmid, Besta and Hoefler, §5. The paper goes to 1,024 processes.
func hpdc16() []Study {
	exclusive := []Contender{{Lock: "foMPI-Spin"}, {Lock: "D-MCS"}, {Lock: "RMA-MCS"}}
	for i := range exclusive {
		exclusive[i].Writers = 1
	}
	ahead := Claim{Text: "RMA-MCS is ahead of foMPI-Spin and D-MCS", Judge: faster(1, "RMA-MCS", 32, "foMPI-Spin", "D-MCS")}
	spike := Claim{Text: "throughput of RMA-MCS and D-MCS rises from 8 to 16 processes, which need no network",
		Judge: all(rises("RMA-MCS", 8, 16), rises("D-MCS", 8, 16)),
		Why:   "in the model a hand-over inside a node takes the same time for 8 and for 16 processes"}
	studies := []Study{{
		Figure: "HPDC16 Fig. 3a", Title: "latency", Benchmark: "LB", Shows: lab.FigureLatency, Machine: daint, Trees: daintTrees, Turns: 20, Series: exclusive,
		Claims: []Claim{ahead,
			{Text: "RMA-MCS takes about 1/10 of foMPI-Spin's latency at 1,024 processes", Judge: about(10, "RMA-MCS", "foMPI-Spin", 1024)},
			{Text: "RMA-MCS takes about 1/4 of D-MCS's latency at 1,024 processes", Judge: about(4, "RMA-MCS", "D-MCS", 1024),
				Why: "listing 3 hands over by a Put. The program that the paper measured does it by an Accumulate (Uffmann22 §3.3): with that, D-MCS-Acc in the figure, the factor is 3.8. A Put arrives after 0.5 us here, an atomic after 1.2"},
		},
	}}
	studies[0].Series = append(slices.Clone(exclusive), Contender{Lock: "D-MCS-Acc", Writers: 1})
	for i, name := range []string{"ECSB", "SOB", "WCSB", "WARB"} {
		s := Study{
			Figure: "HPDC16 Fig. 3" + string(rune('b'+i)), Title: "throughput of " + name, Benchmark: name, Shows: lab.FigureThroughput,
			Machine: daint, Trees: daintTrees, Turns: 20, Series: exclusive, Claims: []Claim{ahead},
		}
		if i < 2 {
			s.Claims = append(s.Claims, spike)
		}
		studies = append(studies, s)
	}
	return append(studies, thresholds(), tree000(), versusFoMPI())
}

// thresholds is the influence of T_DC.
func thresholds() Study {
	s := Study{
		Figure: "HPDC16 Fig. 4a", Title: "T_DC: counters on every node, every 2nd, every 4th; F_W 0.2 %", Benchmark: "SOB", Shows: lab.FigureThroughput,
		Machine: daint, Trees: daintTrees[2:5], Turns: 50,
		Claims: []Claim{{Text: "a counter on each node is faster than eight on each: writers have less to do", Judge: faster(1, "T_DC 16", 64, "T_DC 2")}},
	}
	for _, c := range []struct {
		name string
		tdc  int
	}{{"T_DC 2", 2}, {"T_DC 16", 16}, {"T_DC 32", 32}} {
		s.Series = append(s.Series, Contender{c.name, "RMA-RW", locks.Options{TDC: c.tdc}, .002})
	}
	return s
}

// tree000 is the influence of T_L.
func tree000() Study {
	return Study{
		Figure: "HPDC16 Fig. 4c", Title: "T_L,2 and T_L,1 with the product 1,000; F_W 25 %", Benchmark: "SOB", Shows: lab.FigureThroughput,
		Machine: daint, Trees: daintTrees[2:5], Turns: 50,
		Series: []Contender{
			{"10-100", "RMA-RW", locks.Options{TL: []int{100, 10}}, .25},
			{"25-40", "RMA-RW", locks.Options{TL: []int{40, 25}}, .25},
			{"50-20", "RMA-RW", locks.Options{TL: []int{20, 50}}, .25},
		},
		Claims: []Claim{
			{Text: "a higher T_L,2 has a higher throughput", Judge: ordered(256, "10-100", "25-40", "50-20")},
			{Text: "the options differ by at most 25 %", Judge: within(.25, 32, "10-100", "25-40", "50-20")},
		},
	}
}

// versusFoMPI is RMA-RW beside foMPI-RW.
func versusFoMPI() Study {
	s := Study{
		Figure: "HPDC16 Fig. 5b", Title: "RMA-RW and foMPI-RW, empty section", Benchmark: "ECSB", Shows: lab.FigureThroughput,
		Machine: daint, Trees: daintTrees[2:4], Turns: 400, // few of 50 write, and none of them waits long
		Claims: []Claim{
			{Text: "RMA-RW is more than 6 times as fast as foMPI-RW at 64 processes and above, in each case (here 64)", Judge: all(
				faster(6, "RMA-RW 0.2 %", 64, "foMPI-RW 0.2 %"), faster(6, "RMA-RW 2 %", 64, "foMPI-RW 2 %"), faster(6, "RMA-RW 5 %", 64, "foMPI-RW 5 %"))},
			{Text: "F_W 0.2 % is at most 1.8 times as fast as 2 %", Judge: atMost(1.8, "RMA-RW 0.2 %", "RMA-RW 2 %", 64)},
			{Text: "F_W 0.2 % is at most 4.4 times as fast as 5 %", Judge: atMost(4.4, "RMA-RW 0.2 %", "RMA-RW 5 %", 64)},
		},
	}
	for _, fw := range []struct {
		name string
		fw   float64
	}{{" 0.2 %", .002}, {" 2 %", .02}, {" 5 %", .05}} {
		for _, lock := range []string{"RMA-RW", "foMPI-RW"} {
			s.Series = append(s.Series, Contender{lock + fw.name, lock, locks.Options{}, fw.fw})
		}
	}
	return s
}
