package claims

import (
	"fmt"

	"github.com/orwl/go-orwl/lab"
	"github.com/orwl/go-orwl/locks"
)

// The machines of HPDC16: Piz Daint with 16 processes on a node.
const daint = "piz-daint"

var daintTrees = []string{"node:1 core:8", "node:1 core:16", "node:2 core:16", "node:4 core:16", "node:16 core:16", "node:64 core:16"}

// hpdc16 are the figures of Schmid, Besta and Hoefler, §5. The paper goes to 1,024 processes.
func hpdc16() []Study {
	// The program that the paper measured hands over by an Accumulate (Uffmann22 §3.3), where the listings have a Put.
	exclusive := append(exclusively("foMPI-Spin"), Contender{Name: "D-MCS", Lock: "D-MCS-Acc", Writers: 1}, programRMAMCS)
	ahead := Claim{Text: "RMA-MCS is ahead of foMPI-Spin and D-MCS", Judge: faster(1, "RMA-MCS", 32, "foMPI-Spin", "D-MCS")}
	spike := Claim{Text: "throughput of RMA-MCS and D-MCS rises from 8 to 16 processes, which need no network",
		Judge: all(rises("RMA-MCS", 8, 16), rises("D-MCS", 8, 16)),
		Why:   "in the model a hand-over inside a node takes the same time for 8 and for 16 processes"}
	studies := []Study{{
		Figure: "HPDC16 Fig. 3a", Title: "latency", Benchmark: "LB", Shows: lab.FigureLatency, Machine: daint, Trees: daintTrees, Turns: 20, Series: exclusive,
		Claims: []Claim{ahead,
			{Text: "RMA-MCS takes about 1/10 of foMPI-Spin's latency at 1,024 processes", Judge: about(10, "RMA-MCS", "foMPI-Spin", 1024)},
			{Text: "RMA-MCS takes about 1/4 of D-MCS's latency at 1,024 processes", Judge: about(4, "RMA-MCS", "D-MCS", 1024)},
		},
	}}
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
	studies = append(studies, thresholds(), products(), tree000(), treeLatency(), readers(), readersAndWriters())
	for _, c := range []struct{ figure, benchmark, shows string }{
		{"5a", "LB", lab.FigureLatency}, {"5b", "ECSB", lab.FigureThroughput}, {"5c", "SOB", lab.FigureThroughput},
	} {
		studies = append(studies, versusFoMPI(c.figure, c.benchmark, c.shows))
	}
	return append(studies, manyWriters())
}

// thresholds is the influence of T_DC.
func thresholds() Study {
	s := Study{
		Figure: "HPDC16 Fig. 4a", Title: "T_DC: counters on every node, every 2nd, every 4th; F_W 0.2 %", Benchmark: "SOB", Shows: lab.FigureThroughput,
		Machine: daint, Trees: daintTrees[2:5], Turns: 50,
		Claims: []Claim{
			{Text: "a counter on each node is faster than eight on each: writers have less to do", Judge: faster(1, "T_DC 16", 64, "T_DC 2")},
			{Text: "a counter on every second node is faster still, until readers dominate (here at 256)", Judge: ordered(256, "T_DC 16", "T_DC 32"),
				Why: "readers dominate earlier here: half of them count on another node. With 25 % writers T_DC 32 is 1.09 times as fast. With a tenth of the network's latency it is 1.24 times"},
			{Text: "a counter on every fourth node is faster than on every second, until readers dominate (here at 256)", Judge: ordered(256, "T_DC 32", "T_DC 64"),
				Why: "as with every second node: three of four readers count on another one"},
		},
	}
	for _, c := range []struct {
		name string
		tdc  int
	}{{"T_DC 2", 2}, {"T_DC 16", 16}, {"T_DC 32", 32}, {"T_DC 64", 64}} {
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

// products is the influence of the product of T_L.
func products() Study {
	s := Study{
		Figure: "HPDC16 Fig. 4b", Title: "the product of T_L,2 = 25 and T_L,1; F_W 25 %", Benchmark: "SOB", Shows: lab.FigureThroughput,
		Machine: daint, Trees: daintTrees[2:5], Turns: 50,
		Claims: []Claim{{Text: "a smaller product has a higher throughput: more readers can enter", Judge: ordered(256, "4,000", "1,000", "250"),
			Why: "a change between writers and readers visits each counter. With a counter for 64 processes 250 is 0.97 times as fast as 4,000, and with one for all 1.04 times. 1,000 and 4,000 are alike: writers never come that far"}},
	}
	for _, c := range []struct {
		name string
		root int
	}{{"250", 10}, {"1,000", 40}, {"4,000", 160}} {
		s.Series = append(s.Series, Contender{c.name, "RMA-RW", locks.Options{TL: []int{c.root, 25}}, .25})
	}
	return s
}

// treeLatency is the latency of tree000.
func treeLatency() Study {
	s := tree000()
	s.Figure, s.Benchmark, s.Shows = "HPDC16 Fig. 4d", "LB", lab.FigureLatency
	s.Claims = []Claim{{Text: "a higher T_L,2 has a higher latency", Judge: ordered(256, "50-20", "25-40", "10-100"),
		Why: "each process comes again at once. So the mean latency is the number of processes by the throughput, which is higher (Fig. 4c)"}}
	return s
}

// readers is the influence of T_R.
func readers() Study {
	s := Study{
		Figure: "HPDC16 Fig. 4e", Title: "T_R, a twentieth of the paper's; F_W 0.2 %", Benchmark: "ECSB", Shows: lab.FigureThroughput,
		Machine: daint, Trees: daintTrees[2:4], Turns: 400, // a counter has 6,400 readers, and not a thousand between two writers
		Claims: []Claim{{Text: "a higher T_R has a higher throughput (here at 64 processes)", Judge: ordered(64, "T_R 50", "T_R 100", "T_R 1,000")}},
	}
	for _, c := range []struct {
		name string
		tr   int
	}{{"T_R 50", 50}, {"T_R 100", 100}, {"T_R 1,000", 1000}} {
		s.Series = append(s.Series, Contender{c.name, "RMA-RW", locks.Options{TR: c.tr}, .002})
	}
	return s
}

// readersAndWriters is T_R with more writers.
func readersAndWriters() Study {
	s := Study{
		Figure: "HPDC16 Fig. 4f", Title: "T_R, which is not reached: all ranks of a counter come to write before; F_W 2 % and 5 %", Benchmark: "ECSB", Shows: lab.FigureThroughput,
		Machine: daint, Trees: daintTrees[2:4], Turns: 400,
		Claims: []Claim{{Text: "no T_R has an advantage of 1 % (here at 64 processes)", Judge: all(
			withinAt(.01, 64, "T_R 3,000, 2 %", "T_R 4,000, 2 %", "T_R 5,000, 2 %"), withinAt(.01, 64, "T_R 3,000, 5 %", "T_R 4,000, 5 %", "T_R 5,000, 5 %"))}},
	}
	for _, fw := range []struct {
		name string
		fw   float64
	}{{", 2 %", .02}, {", 5 %", .05}} {
		for _, tr := range []int{3, 4, 5} {
			s.Series = append(s.Series, Contender{fmt.Sprintf("T_R %d,000%s", tr, fw.name), "RMA-RW", locks.Options{TR: 1000 * tr}, fw.fw})
		}
	}
	return s
}

// manyWriters is the throughput of RMA-RW where many write.
func manyWriters() Study {
	s := Study{
		Figure: "HPDC16 §5.2.4", Title: "F_W above 30 %", Benchmark: "ECSB", Shows: lab.FigureThroughput, Machine: daint, Trees: daintTrees[2:4], Turns: 50,
		Claims: []Claim{{Text: "above 30 % the throughput remains approximately the same (25 % here)", Judge: within(.25, 32, "F_W 30 %", "F_W 60 %", "F_W 100 %"),
			Why: "writers of one node hand over to each other, up to T_L. At 64 processes 60 % makes 0.64 and 100 % 0.75 of 30 %. With T_L 2 it is 0.50 and 0.32, and with 1,000 it is 0.64 and 0.85"}},
	}
	for _, fw := range []int{30, 60, 100} {
		s.Series = append(s.Series, Contender{fmt.Sprintf("F_W %d %%", fw), "RMA-RW", locks.Options{}, float64(fw) / 100})
	}
	return s
}

// versusFoMPI is RMA-RW beside foMPI-RW.
func versusFoMPI(figure, benchmark, shows string) Study {
	s := Study{
		Figure: "HPDC16 Fig. " + figure, Title: "RMA-RW and foMPI-RW, " + benchmark, Benchmark: benchmark, Shows: shows,
		Machine: daint, Trees: daintTrees[2:4], Turns: 400, // few of 50 write, and none of them waits long
		Claims: []Claim{
			{Text: "RMA-RW is more than 6 times as fast as foMPI-RW at 64 processes and above, in each case (here 64)", Judge: all(
				faster(6, "RMA-RW 0.2 %", 64, "foMPI-RW 0.2 %"), faster(6, "RMA-RW 2 %", 64, "foMPI-RW 2 %"), faster(6, "RMA-RW 5 %", 64, "foMPI-RW 5 %"))},
		},
	}
	if shows == lab.FigureLatency {
		s.Turns = 2000 // a writer of 400 turns that waits long is one of 51, and the mean hangs on it
	} else {
		s.Claims = append(s.Claims,
			Claim{Text: "F_W 0.2 % is at most 1.8 times as fast as 2 %", Judge: between(1, 1.8, "RMA-RW 0.2 %", "RMA-RW 2 %", 64),
				Why: "readers make the access of SOB's section together, and writers one after another. With an empty section (Fig. 5b) it is 1.64"},
			Claim{Text: "either lock is the fastest with F_W 0.2 % (here at 64 processes)", Judge: all(
				faster(1, "RMA-RW 0.2 %", 64, "RMA-RW 2 %", "RMA-RW 5 %"), faster(1, "foMPI-RW 0.2 %", 64, "foMPI-RW 2 %", "foMPI-RW 5 %"))},
			Claim{Text: "F_W 0.2 % is at most 4.4 times as fast as 5 %", Judge: between(1, 4.4, "RMA-RW 0.2 %", "RMA-RW 5 %", 64)})
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
