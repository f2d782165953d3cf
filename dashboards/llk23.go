package dashboards

// llk23 is how far a run of apps/llk23 is, and what its blocks do meanwhile.
func llk23() Dashboard {
	const spent = "sum by (node) (rate(llk23_block_seconds_total{here}[$__rate_interval]))"
	return Dashboard{
		UID: "orwl-llk23", Title: "ORWL: Livermore kernel 23",
		About: "How far the sweeps are, how fast, and what the blocks do with their time.",
		Rows: []Row{
			{"How far", []Panel{
				{Title: "Done", Kind: Number, Unit: Share, Width: 4, About: "Of all elements in all iterations.",
					Queries: []Query{{"sum(llk23_updates_total{here}) / sum(llk23_updates_planned{here})", "done"}}},
				{Title: "Iterations done", Kind: Number, Unit: Count, Width: 4, About: "By the block that is furthest behind.",
					Queries: []Query{{"min(llk23_iterations_done{here})", "done"}}},
				{Title: "Iterations asked for", Kind: Number, Unit: Count, Width: 4, Queries: []Query{{"max(llk23_iterations{here})", "-iters"}}},
				{Title: "Left", Kind: Number, Unit: Seconds, Width: 4, About: "At the pace of the last minute.",
					Queries: []Query{{"(sum(llk23_updates_planned{here}) - sum(llk23_updates_total{here})) / sum(rate(llk23_updates_total{here}[1m]))", "left"}}},
				{Title: "The problem", Kind: Table, Width: 8, Height: numberHeight,
					Queries: []Query{{"max by (grid, block, kernel, tasks) (llk23_info{here})", ""}}},
			}},
			{"How fast", []Panel{
				{Title: "Elements", Unit: PerSecond, Stack: true, About: "Swept, each once in each iteration.",
					Queries: []Query{{"sum by (node) (rate(llk23_updates_total{here}[$__rate_interval]))", "node {{node}}"}}},
				{Title: "Time for an element", Unit: Seconds, About: "Of the whole run: what the report calls ns per element.",
					Queries: []Query{{"1 / sum(rate(llk23_updates_total{here}[$__rate_interval]))", "an element"}}},
				{Title: "Iterations done", Unit: Count, About: "By the block of each node that is furthest behind.",
					Queries: []Query{{"llk23_iterations_done{here}", "node {{node}}"}}},
			}},
			{"What blocks do", []Panel{
				{Title: "Blocks at a time", Unit: Count, Stack: true, About: "How many are in each phase, on average.",
					Queries: []Query{{"sum by (phase) (rate(llk23_block_seconds_total{here}[$__rate_interval]))", "{{phase}}"}}},
				{Title: "Waiting share", Unit: Share, About: "For a neighbour's frontier, before the first round, and after the last.",
					Queries: []Query{{`sum by (node) (rate(llk23_block_seconds_total{here, phase=~"wait|outside"}[$__rate_interval])) / ` + spent, "node {{node}}"}}},
				{Title: "Queued share", Unit: Share, About: "Blocks that are ready, and have no worker: more processors would help.",
					Queries: []Query{{`sum by (node) (rate(llk23_block_seconds_total{here, phase="queued"}[$__rate_interval])) / ` + spent, "node {{node}}"}}},
				{Title: "Computing share", Unit: Share,
					Queries: []Query{{`sum by (node) (rate(llk23_block_seconds_total{here, phase="compute"}[$__rate_interval])) / ` + spent, "node {{node}}"}}},
			}},
			{"Frontiers", []Panel{
				{Title: "Frontiers read", Unit: PerSecond, About: "Hand-overs from block to block.",
					Queries: []Query{{`sum by (node) (rate(orwl_accesses_total{here, mode="read", outcome="acquired"}[$__rate_interval]))`, "node {{node}}"}}},
				{Title: "Bytes between nodes", Unit: BytesPerSecond,
					Queries: []Query{{`sum by (node) (rate(orwl_resource_bytes_total{here, direction="in"}[$__rate_interval]))`, "to node {{node}}"}}},
				{Title: "Here before asked for", Unit: Share, About: "Of the frontiers of other nodes, those that had come when they were needed.",
					Queries: []Query{{"sum by (node) (rate(orwl_prefetch_hits_total{here}[$__rate_interval])) / sum by (node) (rate(orwl_remote_accesses_total{here}[$__rate_interval])) >= 0", "node {{node}}"}}},
			}},
		},
	}
}
