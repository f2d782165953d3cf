package claims

import "slices"

// Gap is a claim that no study runs.
type Gap struct{ Where, Text, Why string }

// elsewhere are claims that another program plays, with what came of them.
func elsewhere() []Row {
	return []Row{
		{Figure: "HPDC16 Fig. 6", Run: "apps/dht bench -window sim -machine piz-daint -ranks 64", Claim: "with 0 % inserts RMA-RW and foMPI-RW are alike",
			Came: "RMA-RW is 1.69 times as fast", Why: "readers of RMA-RW count at their own node"},
		{Figure: "HPDC16 Fig. 6", Run: "apps/dht bench -window sim -machine piz-daint -ranks 64", Claim: "with 2, 5 and 20 % inserts RMA-RW is faster than foMPI-A",
			Came: "RMA-RW is 0.60, 0.38 and 0.14 times as fast", Why: "inserts without a lock overlap: docs/reference/dht.md"},
		{Figure: "HPDC16 Fig. 6", Run: "apps/dht bench -window sim -machine piz-daint -ranks 64", Claim: "with 2, 5 and 20 % inserts RMA-RW is faster than foMPI-RW",
			Came: "RMA-RW is 4.93, 4.95 and 3.09 times as fast", Holds: true},
	}
}

// Studies are all figures that can be played.
func Studies() []Study { return slices.Concat(hpdc16(), topc19(), cacm18(), uffmann22()) }

// Missing are the claims that are not run, and why.
func Missing() []Gap {
	return []Gap{
		{"HPDC16 Fig. 4, 5", "512 and 1,024 processes", "they take minutes: Fig. 3 goes that far, the others to 256 and to 64"},
		{"HPDC16 abstract, §1", "81 % and 73 % better; 7.2 and 6.8 times on average", "the paper does not say over which benchmarks and processes these are means"},
		{"TOPC19 Fig. 2-9", "Pthread mutex; 88 threads in each process of SNAP", "a mutex sleeps in the kernel, which a described machine does not have; SNAP has 8 in a process. With 88 HMCS takes 1.14 times as long as MCS on two processes, and P-HMCS-MCS 1.01 times as long as P-MCS-MCS on twelve"},
		{"CACM18 §2.5, §3, §4", "exact models of each function", "the text at hand is a fragment that ends with §2.4"},
		{"TOPC19 Fig. 8", "message rates by size", "a study takes 20 s. Played once, MCS, P-MCS-MCS, P-HMCS-MCS and P-HMCS-HMCS differ by 91 % at 64 bytes, and by 2 % at 64 KiB"},
		{"TOPC19 Fig. 2-7", "the steps at 24, 46 and 68 threads", "three numbers of threads are played: one NUMA node, one socket and both. A server runs on 2 s of a processor for each point"},
		{"Uffmann22 benchmark 4.1", "a free RMA-MCS is slower than D-MCS by about 1.5 us, on each node", "the price of a call on coolmuc-2 is derived from it"},
		{"Uffmann22 benchmarks 4.5, 4.8, 4.10", "existing locks and D-MCS's optimisations on one node, with work or waits", "they are about Intel MPI's lock, which is proprietary, and about the part of a lock's time that is not critical, which no benchmark here measures"},
		{"Uffmann22 benchmark 4.11", "four steps of dash::Mutex", "the table has the first and the last step: §4.3.2"},
		{"Uffmann22 §5", "memory of each lock", "the table of package locks says how many words ours take, and they are other listings"},
		{"CACM18 §2.2", "the cost of making windows", "no benchmark makes windows"},
		{"Uffmann22 §4.2.4", "fairness of WBAB without MPI_Iprobe", "the simulator makes progress while a rank computes"},
		{"Uffmann22 §4.3.2", "dash::Mutex that looks for a successor first", "the table has it as a part of C-P2P-L only"},
		{"Uffmann22 §4.2", "Intel MPI's lock", "proprietary; orwl-lab bench -peers mpi has two other MPIs"},
		{"ORWL11 §4", "four experiments with Livermore Kernel 23; equity", "run by orwl-lab experiments; the result is lab/docs/llk23-experiments"},
	}
}
