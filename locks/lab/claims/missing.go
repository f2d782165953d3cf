package claims

// Gap is a claim that no study runs.
type Gap struct{ Where, Text, Why string }

// Studies are all figures that can be played.
func Studies() []Study { return append(paper000(), paper003()...) }

// Missing are the claims that are not run, and why.
func Missing() []Gap {
	return []Gap{
		{"000 Fig. 4, 5", "512 and 1,024 processes", "they take minutes: Fig. 3 goes that far, the others to 256 and to 64"},
		{"000 Fig. 4b, 4d, 4e, 4f", "product of T_L,i; latency by T_L,i; T_R; T_R and F_W", "no study is written yet"},
		{"000 Fig. 5a, 5c; §5.2.4", "latency and SOB of RMA-RW; F_W above 30 % changes nothing", "no study is written yet"},
		{"000 Fig. 6", "RMA-RW speeds up a hash table", "run by apps/dht: docs/dht.md"},
		{"001 Fig. 2-4, 6-9", "P-HMCS-MCS is the best in both regimes", "no study is written yet: orwl bench -bench pingpong,msgrate,snap measures it"},
		{"002 §2", "models and costs of epochs and window kinds", "no study is written yet: orwl bench -bench epochs,put,get,accumulate measures it"},
		{"003 §4.2.3, §4.2.4, §5.2-5.6", "CCWB and WBAB of all locks; fairness of RH; HEM; C-MCS-MCS 2 times RMA-MCS in WBAB", "no study is written yet"},
		{"003 §4.2", "Intel MPI's lock and dash::Mutex", "proprietary, or not packaged; orwl bench -peers mpi has two other MPIs"},
		{"004 §4", "four experiments with Livermore Kernel 23; equity", "run by apps/llk23: llk23 experiments"},
	}
}
