package command

// shared are the flags that several commands have, with their help.
// A name has one meaning, and its value one form. A command may add text before or behind.
var shared = map[string]string{
	// where, and with which other processes
	"nodes":   "`N` nodes",
	"ssh":     "the nodes run on the hosts `HOST,HOST`, node[1-4] for four, which ssh reaches without a question",
	"join":    "be one of `N` processes on this network that find each other; all have the same ORWL_KEY_FILE and the same flags",
	"listen":  "listen at `HOST:PORT`",
	"at":      "the server, or any of several, is at `HOST:PORT,...`",
	"find":    "sessions find the server on this network by the key, without an address; all have the same ORWL_KEY_FILE",
	"metrics": "serve metrics for Prometheus, profiles and the run's state at `HOST:PORT`, node i at PORT+i; beyond this machine only in a run with a cluster key",
	// output
	"json": "print JSON and nothing else",
	"csv":  "print CSV with a header and nothing else",
	"out":  "write the result",
	"html": "to `FILE`, too",
	"why":  "say why each task is where it is",
	// machines and ranks
	"topology": "`LEVEL:N ...` from coarse to fine, the last one counting ranks",
	"machine":  "the `MACHINE` of virtual time",
	"ranks":    "`N` ranks",
	"window":   "where ranks run: `NAME` is mem (goroutines), shm (processes), p2p (nodes that exchange frames)",
	// contests
	"lock":      "the lock `NAME`",
	"bench":     "the benchmarks: `NAME,...`, patterns, or all",
	"fw":        "F_W, the share of accesses that write, in percent: `P,...`",
	"vary":      "the parameter that a benchmark varies",
	"inside":    "more work while a rank holds the lock: `TIME,...`",
	"outside":   "more work after each release: `TIME,...`",
	"time":      "one repeat takes a `TIME`",
	"turns":     "count `N` iterations of each rank, instead of a time",
	"repeats":   "play each case `N` times; the median counts",
	"seed":      "the seed `N`",
	"unchecked": "do not check exclusion",
	"uncounted": "do not count remote operations",
	"kernel":    "the kernel `NAME`",
	// options of locks
	"tl":        "the thresholds T_L,i of a lock with levels, from coarse to fine: `N,N,...`",
	"tdc":       "T_DC of RMA-RW: every `N`-th rank keeps a counter of readers",
	"tr":        "T_R of RMA-RW: `N` readers in a row at a counter while a writer waits",
	"tw":        "T_W of RMA-RW: `N` writers in a row while readers wait",
	"step-back": "a reader of RMA-RW that is kept out steps back once, and writers need not queue up",
}

// Usage is the help of a flag that several commands have, and what this command adds.
func Usage(name, more string) string {
	text, is := shared[name]
	if !is {
		panic("command: no flag -" + name + " that several commands have") // a mistake of ours
	}
	return text + more
}
