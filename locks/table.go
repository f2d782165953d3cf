package locks

// All is the table of locks.
func All() []Spec {
	return []Spec{
		{
			Name: "MCS", Paper: "000 §2.4", About: "queue lock, by direct atomics where ranks share memory",
			Fairness: "FIFO", FIFO: true, Aborts: Always, Words: wordsOfMCS, at: newMCS(true), Options: []string{"CASFirst"},
			Cost: Cost{Operations{Atomics: 2}, Operations{Atomics: 2, Puts: 1}},
		},
		{
			Name: "D-MCS", Paper: "000 §2.4, listings 2 and 3", About: "the same by window operations, handing over by Put",
			Fairness: "FIFO", FIFO: true, Words: wordsOfMCS, at: newMCS(false), Options: []string{"HandOver", "CASFirst"},
			preset: func(o *Options) { o.Operations = true },
			Cost:   Cost{Operations{Atomics: 2}, Operations{Atomics: 1, Puts: 2}},
		},
		{
			Name: "HMCS", Paper: "003 §5.4", About: "tree of queues, one level for each of the topology's",
			Fairness: "T_L,i in a row", Aborts: Always, Words: wordsOfHMCS(allLevels), at: newHMCS(allLevels), Options: []string{"TL"},
		},
		{
			Name: "RMA-MCS", Paper: "000 §3.5", About: "tree of queues, machine and finest elements, by window operations",
			Fairness: "T_L,i in a row", Aborts: Always, Words: wordsOfHMCS(twoLevels), at: newHMCS(twoLevels), Options: []string{"TL"},
			preset: func(o *Options) { o.Operations = true },
		},
		{
			Name: "RMA-RW", Kind: ReaderWriter, Paper: "000 §3", About: "tree of queues for writers, distributed counter for readers",
			Fairness: "T_L,i, T_R, T_W", Aborts: Always, Words: wordsOfRMARW, at: newRMARW,
			Options: []string{"TL", "TDC", "TR", "TW"},
		},
	}
}

// ByName finds a lock.
func ByName(name string) (Spec, bool) {
	for _, s := range All() {
		if s.Name == name {
			return s, true
		}
	}
	return Spec{}, false
}
