package claims

import (
	"math"

	"github.com/orwl/go-orwl/lab"
)

// The machine of TOPC19: nodes of 88 hardware threads in four NUMA nodes, and Omni-Path. Threads fill
// one NUMA node after the other. Where there is a server, it is alone on a node of its own.
const broadwell = "broadwell-opa"

var (
	threadTrees = []string{"node:1 numa:1 core:11 thread:2", "node:1 numa:2 core:11 thread:2", "node:1 numa:4 core:11 thread:2"}
	serverTrees = []string{"node:2 numa:1 core:1+2 thread:1", "node:2 numa:1+2 core:1+11*2 thread:1+2*22", "node:2 numa:1+4 core:1+11*4 thread:1+2*44"}
	snapTrees   = []string{"node:2 numa:4 core:1 thread:2", "node:4 numa:4 core:1 thread:2", "node:12 numa:4 core:1 thread:2"}
)

// Why claims do not hold here.
const (
	whyPaths  = "P-MCS-MCS hands three queues from socket to socket. P-HMCS-MCS is as the paper says"
	whySizes  = "at 8 KiB the message takes longer than what the locks differ by"
	whySource = "the source sends 3 million messages a second, the published rate of two processes. HMCS hands the lock on faster than messages come. With 5 million a second both are productive whenever they have the lock"
)

// fullServer is the last of the serverTrees.
const fullServer = 89

// topc19 are the figures of Amer et al. The servers answer messages of 64 bytes, unless a figure has
// the sizes on its X axis.
func topc19() []Study {
	flat := exclusively("MCS", "HMCS")
	both := exclusively("MCS", "HMCS", "P-MCS-MCS", "P-HMCS-MCS", "P-MCS-HMCS", "P-HMCS-HMCS")
	server := func(figure, title, bench, shows string, turns int, series []Contender, claims ...Claim) Study {
		return Study{Figure: figure, Title: title, Benchmark: bench, Shows: shows, Machine: broadwell, Trees: serverTrees, Step: 64, Turns: turns,
			Series: series, Claims: claims}
	}
	return []Study{
		{Figure: "TOPC19 Fig. 2a", Title: "latency of an acquire and a release, ten random lines", Benchmark: "ACQUIRE", Shows: lab.FigureLatency,
			Machine: broadwell, Trees: threadTrees, Turns: 100, Series: flat,
			Claims: []Claim{{Text: "acquiring HMCS takes less time than MCS (§3.4.1)", Judge: faster(1, "HMCS", 44, "MCS")}}},
		server("TOPC19 Fig. 2b, 7b", "latency of a message", "PINGPONG", lab.FigureLatency, 20, both,
			Claim{Text: "the lock with the lower latency, HMCS, has the higher message latency (§3.4.1)", Judge: faster(1, "MCS", fullServer, "HMCS")},
			Claim{Text: "locks with MCS on the progress path are faster than those with HMCS there (§5.2)", Judge: all(
				faster(1, "P-MCS-MCS", fullServer, "P-MCS-HMCS", "P-HMCS-HMCS"), faster(1, "P-HMCS-MCS", fullServer, "P-MCS-HMCS", "P-HMCS-HMCS")), Why: whyPaths},
			Claim{Text: "P-HMCS-MCS is among the best in this regime (§4.2, §5.2; 10 % here)", Judge: faster(.9, "P-HMCS-MCS", fullServer, "MCS", "HMCS", "P-MCS-MCS", "P-MCS-HMCS", "P-HMCS-HMCS")},
			Claim{Text: "P-HMCS-MCS loses more than 8 times from two threads to all (§6.1)", Judge: loses("P-HMCS-MCS", 3, fullServer, 8, math.Inf(1))}),
		server("TOPC19 Fig. 3, 6a", "productive share of acquisitions on the progress path, one request at a time", "PINGPONG", "progress path", 20, both,
			Claim{Text: "the main path is productive with any lock (§3.4.2)", Judge: atLeast("main path", .99, fullServer, "MCS", "HMCS")},
			Claim{Text: "HMCS is less productive than MCS (§3.4.2)", Judge: faster(1, "MCS", fullServer, "HMCS")},
			Claim{Text: "locks with HMCS on the progress path are the worst (§4.2)", Judge: all(
				faster(1, "P-MCS-MCS", fullServer, "P-MCS-HMCS", "P-HMCS-HMCS", "HMCS"), faster(1, "P-HMCS-MCS", fullServer, "P-MCS-HMCS", "P-HMCS-HMCS", "HMCS"))},
			Claim{Text: "P-MCS-MCS improves upon MCS (§4.2)", Judge: faster(1, "P-MCS-MCS", fullServer, "MCS")}),
		server("TOPC19 Fig. 4, 6b", "productive share of acquisitions on the progress path, 64 requests at a time", "MSGRATE", "progress path", 4, both,
			Claim{Text: "HMCS is more productive than MCS (§3.4.3)", Judge: faster(1, "HMCS", fullServer, "MCS"), Why: whySource},
			Claim{Text: "on the main path locks with HMCS there are at least as productive as those with MCS (§4.2)", Judge: on("main path", all(
				faster(.999, "P-HMCS-MCS", fullServer, "P-MCS-MCS", "P-MCS-HMCS", "MCS"), faster(.999, "P-HMCS-HMCS", fullServer, "P-MCS-MCS", "P-MCS-HMCS", "MCS")))},
			Claim{Text: "P-HMCS-MCS is at least as productive as P-MCS-MCS (§4.2)", Judge: faster(.999, "P-HMCS-MCS", fullServer, "P-MCS-MCS")}),
		server("TOPC19 Fig. 7a", "message rate", "MSGRATE", "message rate", 4, both,
			Claim{Text: "locks with HMCS for all threads or for high priority are about twice as fast as P-MCS-MCS (§5.2)", Judge: all(
				about(2, "HMCS", "P-MCS-MCS", fullServer), about(2, "P-HMCS-MCS", "P-MCS-MCS", fullServer), about(2, "P-HMCS-HMCS", "P-MCS-MCS", fullServer))},
			Claim{Text: "P-HMCS-MCS is among the best in this regime, too (§4.2, §5.2; 10 % here)", Judge: faster(.9, "P-HMCS-MCS", fullServer, "MCS", "HMCS", "P-MCS-MCS", "P-MCS-HMCS", "P-HMCS-HMCS"),
				Why: "its threads on the progress path hand the lock from one NUMA node to another, for 108 ns a line. With 47 ns, as inside a node, it makes 0.95 of the best one, and the locks differ by 12 %"},
			Claim{Text: "P-HMCS-MCS loses less than twice from two threads to all (§6.1; and gains at most a third)", Judge: loses("P-HMCS-MCS", 3, fullServer, .75, 2)}),
		sizes001(), snap001(),
	}
}

// sizes001 is the latency at full concurrency by message size.
func sizes001() Study {
	return Study{
		Figure: "TOPC19 Fig. 8", Title: "latency by message size, all threads", Benchmark: "PINGPONG", Shows: lab.FigureLatency,
		Machine: broadwell, Trees: serverTrees[2:], Steps: []float64{64, 1024, 8192, 65536}, Turns: 10,
		Series: exclusively("MCS", "P-MCS-MCS", "P-HMCS-MCS", "P-HMCS-HMCS"),
		Claims: []Claim{
			{Text: "above 8 KiB MCS, P-MCS-MCS and P-HMCS-MCS hardly differ (§5.2; 10 % here)", Judge: within(.1, 65536, "MCS", "P-MCS-MCS", "P-HMCS-MCS")},
			{Text: "with HMCS on the progress path it is slower at each size (§5.2)", Judge: faster(1, "P-HMCS-MCS", 0, "P-HMCS-HMCS"), Why: whySizes},
		},
	}
}

// snap001 is the proxy application, strong scaling.
func snap001() Study {
	return Study{
		Figure: "TOPC19 Fig. 9", Title: "SNAP: time of the sweeps", Benchmark: "SNAP", Shows: "sweep",
		Machine: broadwell, Trees: snapTrees, Turns: 2,
		Series: exclusively("MCS", "HMCS", "P-MCS-MCS", "P-HMCS-MCS", "P-HMCS-HMCS"),
		Claims: []Claim{
			{Text: "on two processes all locks are alike (§5.3; 10 % here)", Judge: withinAt(.1, 16, "MCS", "HMCS", "P-MCS-MCS", "P-HMCS-MCS", "P-HMCS-HMCS")},
			{Text: "MCS is the fastest on twelve (§5.3)", Judge: faster(1, "MCS", 96, "HMCS", "P-MCS-MCS", "P-HMCS-MCS", "P-HMCS-HMCS")},
			{Text: "P-HMCS-MCS comes close to MCS on twelve (§5.3; 10 % here)", Judge: withinAt(.1, 96, "MCS", "P-HMCS-MCS")},
			{Text: "locks with HMCS on the progress path are slower than MCS on twelve (§5.3)", Judge: faster(1, "MCS", 96, "HMCS", "P-HMCS-HMCS")},
			{Text: "P-HMCS-MCS is faster than P-MCS-MCS on twelve (§5.3)", Judge: faster(1, "P-HMCS-MCS", 96, "P-MCS-MCS")},
		},
	}
}
