package dashboards

// overview is what one looks at first: is the run well, and where does the time go.
func overview() Dashboard {
	return Dashboard{
		UID: "orwl-overview", Title: "ORWL: overview",
		About: "Whether a run is well, where its time goes, and what its accesses wait for.",
		Rows: []Row{
			{"Is it well", wellness()},
			{"Where the time goes", spending()},
			{"Accesses", accesses()},
			{"Queues", queues()},
			{"Prefetch: what an announcement buys", prefetch()},
			{"Faults", faults()},
			{"Processes", processes()},
		},
	}
}

func wellness() []Panel {
	return []Panel{
		{Title: "Nodes scraped", Kind: Number, Unit: Count, About: "Targets of the job that Prometheus reaches.",
			Queries: []Query{{"sum(up{there})", "up"}}},
		{Title: "Nodes lost", Kind: Number, Unit: Count, Alarm: 1, About: "As seen by the node that misses most.",
			Queries: []Query{{`max(orwl_net_nodes{here, state="lost"})`, "lost"}}},
		{Title: "Tasks at work", Kind: Number, Unit: Count, About: "Tasks that neither wait nor have ended.",
			Queries: []Query{{`sum(orwl_tasks{here, state="working"})`, "working"}}},
		{Title: "Tasks queued", Kind: Number, Unit: Count, About: "Tasks that are ready and have no worker: more processors would help, and nothing else.",
			Queries: []Query{{`sum(orwl_tasks{here, state="queued"})`, "queued"}}},
		{Title: "Tasks waiting", Kind: Number, Unit: Count, About: "Tasks that sleep until an access is granted.",
			Queries: []Query{{`sum(orwl_tasks{here, state="waiting"})`, "waiting"}}},
		{Title: "Stalled", Kind: Number, Unit: Count, Alarm: 1, About: "Nodes on which nothing has moved for as long as the program finds too long.",
			Queries: []Query{{"sum(orwl_stalled{here})", "stalled"}}},
		{Title: "Broken locks", Kind: Number, Unit: Count, Alarm: 1, About: "Resources whose lock was interrupted, or whose memory could not be kept; they grant nothing any more.",
			Queries: []Query{{"sum(orwl_broken_locks{here})", "broken"}}},
		{Title: "Alerts that fire", Kind: Table, Width: 6, Height: 4, About: "Needs rules.yml. What to do is in docs/reference/observe.md.",
			Queries: []Query{{`sum by (alertname, severity, node) (ALERTS{there, alertstate="firing"})`, ""}}},
	}
}

func spending() []Panel {
	return []Panel{
		{Title: "Waiting share", Unit: Share, About: "Of the time that tasks compute or wait, how much they wait.",
			Queries: []Query{{"sum by (node) (rate(orwl_task_wait_seconds_total{here}[$__rate_interval])) / " +
				"(sum by (node) (rate(orwl_task_wait_seconds_total{here}[$__rate_interval])) + " +
				"sum by (node) (rate(orwl_task_compute_seconds_total{here}[$__rate_interval])))", "node {{node}}"}}},
		{Title: "Tasks at a time", Unit: Count, Stack: true, About: "How many tasks compute, and how many wait, on average.",
			Queries: []Query{
				{"sum(rate(orwl_task_compute_seconds_total{here}[$__rate_interval]))", "compute"},
				{"sum(rate(orwl_task_wait_seconds_total{here}[$__rate_interval]))", "wait"},
			}},
		{Title: "Rounds", Unit: PerSecond, About: "Iterations that tasks finish.",
			Queries: []Query{{"sum by (node) (rate(orwl_task_rounds_total{here}[$__rate_interval]))", "node {{node}}"}}},
	}
}

func accesses() []Panel {
	return []Panel{
		{Title: "Accesses", Unit: PerSecond, About: "Acquired, by mode and door.",
			Queries: []Query{{`sum by (mode, door) (rate(orwl_accesses_total{here, outcome="acquired"}[$__rate_interval]))`, "{{mode}}, {{door}}"}}},
		{Title: "Accesses that waited", Unit: Share, About: "Of all, by mode and door.",
			Queries: []Query{{"sum by (mode, door) (rate(orwl_waits_total{here}[$__rate_interval])) / " +
				"sum by (mode, door) (rate(orwl_accesses_total{here}[$__rate_interval])) >= 0", "{{mode}}, {{door}}"}}},
		{Title: "Accesses that came to nothing", Unit: PerSecond, About: "Cancelled, or failed since a lock is broken or a home is lost.",
			Queries: []Query{{`sum by (outcome, node) (rate(orwl_accesses_total{here, outcome!="acquired"}[$__rate_interval]))`, "{{outcome}}, node {{node}}"}}},
		{Title: "Wait to acquire", Unit: Seconds, About: "An access that did not wait counts as 0.", Queries: quantiles("orwl_acquire_wait_seconds", "mode")},
		{Title: "Hold", Unit: Seconds, About: "From acquisition to release.", Queries: quantiles("orwl_hold_seconds", "mode")},
		{Title: "Hand-over", Unit: Seconds, About: "From a release to the acquisition by the next waiter.", Queries: quantiles("orwl_handover_seconds", "scope")},
	}
}

func queues() []Panel {
	return []Panel{
		{Title: "Queue length", Kind: Heat, Unit: Count, Width: 12, About: "How many requests are in a queue.", Queries: heat("orwl_queue_length")},
		{Title: "Group size", Kind: Heat, Unit: Count, Width: 12, About: "How many neighbouring readers share a grant.", Queries: heat("orwl_group_size")},
	}
}

func prefetch() []Panel {
	return []Panel{
		{Title: "Announcements", Unit: PerSecond, Width: 6, About: "Accesses that were requested, mostly long before they are acquired.",
			Queries: []Query{{"sum by (mode) (rate(orwl_announcements_total{here}[$__rate_interval]))", "{{mode}}"}}},
		{Title: "Announcements that paid", Unit: Share, Width: 6, About: "Of the accesses to what is kept on other nodes, those that did not have to wait when they were asked for.",
			Queries: []Query{{"sum by (mode) (rate(orwl_prefetch_hits_total{here}[$__rate_interval])) / " +
				"sum by (mode) (rate(orwl_remote_accesses_total{here}[$__rate_interval])) >= 0", "{{mode}}"}}},
		{Title: "Bytes fetched ahead", Unit: BytesPerSecond, Stack: true, Width: 6, About: "In time: here before the task waited for them.",
			Queries: []Query{{"sum by (when) (rate(orwl_prefetch_bytes_total{here}[$__rate_interval]))", "{{when}}"}}},
		{Title: "Time hidden", Unit: Seconds, Width: 6, About: "Seconds that data travelled while no task waited for it, in each second.",
			Queries: []Query{{"sum by (node) (rate(orwl_prefetch_hidden_seconds_total{here}[$__rate_interval]))", "node {{node}}"}}},
	}
}

func faults() []Panel {
	return []Panel{
		{Title: "Lives", Unit: Count, About: "The number of the run's life. It goes up when a node is lost, comes or leaves.",
			Queries: []Query{{"max(orwl_life{here})", "life"}}},
		{Title: "Age of the last cut", Unit: Seconds, About: "The loss of a node now would cost so much work.",
			Queries: []Query{{"max by (node) (orwl_cut_age_seconds{here})", "node {{node}}"}}},
		{Title: "Cuts", Unit: BytesPerSecond, About: "What tasks copy for cuts.",
			Queries: []Query{{"sum by (node) (rate(orwl_cut_bytes_total{here}[$__rate_interval]))", "node {{node}}"}}},
		{Title: "Leases, fences, revocations", Unit: Count, About: "How often grants ended otherwise than by a release.", Queries: []Query{
			{"sum by (node) (increase(orwl_leases_expired_total{here}[$__rate_interval]))", "lease expired, node {{node}}"},
			{"sum by (node) (increase(orwl_fences_total{here}[$__rate_interval]))", "fence raised, node {{node}}"},
			{"sum by (node) (increase(orwl_revocations_total{here}[$__rate_interval]))", "revoked, node {{node}}"},
		}},
		{Title: "Stalls", Unit: Count, About: "How often nothing moved for too long.",
			Queries: []Query{{"sum by (node) (increase(orwl_stalls_total{here}[$__rate_interval]))", "node {{node}}"}}},
		{Title: "Turned away", Unit: Count, About: "Connections, streams and frames that were refused.",
			Queries: []Query{{"sum by (reason) (increase(orwl_net_refused_total{here}[$__rate_interval]))", "{{reason}}"}}},
	}
}

func processes() []Panel {
	return []Panel{
		{Title: "Processors used", Unit: Count, Width: 6, Queries: []Query{{"rate(process_cpu_seconds_total{there}[$__rate_interval])", "{{instance}}"}}},
		{Title: "Memory", Unit: Bytes, Width: 6, Queries: []Query{{"process_resident_memory_bytes{there}", "{{instance}}"}}},
		{Title: "Goroutines", Unit: Count, Width: 6, Queries: []Query{{"go_goroutines{there}", "{{instance}}"}}},
		// In OpenMetrics it is 1.0.
		{Title: "Longest pause of the garbage collector", Unit: Seconds, Width: 6, Queries: []Query{{`go_gc_duration_seconds{there, quantile=~"1(.0)?"}`, "{{instance}}"}}},
	}
}
