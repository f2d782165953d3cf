package claims

// The machine of CACM18 is a Cray XC30, as in HPDC16. The text at hand ends with §2.4.

// epochTrees are 16 ranks on a node.
var epochTrees = []string{"node:2 core:16", "node:4 core:16", "node:16 core:16"}

// cacm18 are statements of Gerstenberger, Besta and Hoefler, §2.
func cacm18() []Study {
	epochs := []string{"fence", "pscw", "lock shared", "lock exclusive", "lock all", "lock all, alone", "put and flush"}
	transfer := func(name string, claims ...Claim) Study {
		return Study{Figure: "CACM18 §2.3 " + name, Title: name + " from another node, by size and kind of window", Benchmark: name, Shows: "time",
			Machine: daint, Trees: []string{"node:2 core:1"}, Steps: []float64{8, 512, 4096, 32768}, Turns: 4,
			Kinds: []string{"allocated", "dynamic", "traditional"}, Claims: claims}
	}
	straight := Claim{Text: "the cost is a latency and a time for each byte", Judge: linear("allocated", 512, 4096, 32768),
		Why: "the simulator plays a transfer as two halves, of which a reader may see one; those of short Puts overlap"}
	cached := Claim{Text: "a dynamic window costs one Get more than an allocated one, which looks whether the list that the rank knows is valid (§2.2)",
		Judge: onceMore("dynamic", "allocated", 8, 1900)}
	return []Study{
		{Figure: "CACM18 §2.4", Title: "epochs by number of ranks", Benchmark: "EPOCHS", Shows: "time", Machine: daint, Trees: epochTrees, Turns: 4, Kinds: epochs,
			Claims: []Claim{
				{Text: "a fence takes O(log p): from 32 to 256 ranks at most 8/5, and a tenth", Judge: grows(1.1*8/5, "fence", 32, 256)},
				{Text: "post, start, complete and wait with two neighbours do not depend on p (10 % here)", Judge: grows(1.1, "pscw", 32, 256)},
				{Text: "put and flush does not depend on p (10 % here)", Judge: grows(1.1, "put and flush", 32, 256)},
				{Text: "lock all takes O(log p), where no other rank locks", Judge: grows(1.1*8/5, "lock all, alone", 32, 256)},
				{Text: "a lock of all ranks takes no longer than a shared lock of each (§2.1, self-consistent)", Judge: sum("lock all", "lock shared", 256, 256)},
			}},
		transfer("PUT", straight, cached),
		transfer("GET", straight, cached),
		transfer("ACCUMULATE", cached,
			Claim{Text: "64 words at once take no longer than 64 times one word (§2.1, self-consistent)", Judge: grows(64, "allocated", 8, 512)}),
	}
}
