package claims

import "slices"

// Gap is a claim that no study runs.
type Gap struct{ Where, Text, Why string }

// Studies are all figures that can be played.
func Studies() []Study { return slices.Concat(hpdc16(), topc19(), cacm18(), uffmann22()) }

// Missing are the claims that are not run, and why.
func Missing() []Gap {
	return []Gap{
		{"HPDC16 Fig. 4, 5", "512 and 1,024 processes", "they take minutes: Fig. 3 goes that far, the others to 256 and to 64"},
		{"HPDC16 Fig. 6", "RMA-RW speeds up a hash table", "run by apps/dht: docs/reference/dht.md"},
		{"TOPC19 Fig. 2-9", "Pthread mutex; 88 threads in each process of SNAP", "a mutex sleeps in the kernel, which a described machine does not have; SNAP has 8 in a process. With 88 HMCS takes 1.14 times as long as MCS on two processes, and P-HMCS-MCS 1.01 times as long as P-MCS-MCS on twelve"},
		{"CACM18 §2.5, §3, §4", "exact models of each function", "the text at hand is a fragment that ends with §2.4"},
		{"TOPC19 Fig. 8", "message rates by size", "a study takes 20 s. Played once, MCS, P-MCS-MCS, P-HMCS-MCS and P-HMCS-HMCS differ by 91 % at 64 bytes, and by 2 % at 64 KiB"},
		{"CACM18 §2.2", "the cost of making windows", "no benchmark makes windows"},
		{"Uffmann22 §4.2.4", "fairness of WBAB without MPI_Iprobe", "the simulator makes progress while a rank computes"},
		{"Uffmann22 §4.3.2", "dash::Mutex that looks for a successor first", "the table has it as a part of C-P2P-L only"},
		{"Uffmann22 §4.2", "Intel MPI's lock", "proprietary; orwl-lab bench -peers mpi has two other MPIs"},
		{"ORWL11 §4", "four experiments with Livermore Kernel 23; equity", "run by orwl-lab experiments; the result is lab/docs/llk23-experiments"},
	}
}
