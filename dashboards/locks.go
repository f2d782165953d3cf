package dashboards

// lockDashboard is how well locks hand over: near or far, evenly or not.
func lockDashboard() Dashboard {
	by := func(metric string) []Query {
		return []Query{{metric + `{here, lock=~"$lock"}`, "{{lock}} ({{algorithm}}), node {{node}}"}}
	}
	rate := func(metric string) string {
		return "sum by (lock, algorithm) (rate(" + metric + `{here, lock=~"$lock"}[$__rate_interval]))`
	}
	perAcquisition := func(metric, what string) Query {
		return Query{rate(metric) + " / " + rate("orwl_lock_acquisitions_total") + " >= 0", "{{lock}} ({{algorithm}})" + what}
	}
	return Dashboard{
		UID: "orwl-locks", Title: "ORWL: locks",
		About:   "Locks that the program watches by name, and the guards and queues of all resources.",
		Choices: []Choice{{"lock", "lock", "orwl_lock_acquisitions_total"}},
		Rows: []Row{
			{"Locks by name", []Panel{
				{Title: "Acquisitions", Unit: PerSecond, About: "Empty unless the program has named its locks: Metrics.Lock.", Queries: []Query{{rate("orwl_lock_acquisitions_total"), "{{lock}} ({{algorithm}})"}}},
				{Title: "Acquisitions that waited", Unit: Share, About: "For the lock. Goroutines wait for a rank of their processor first.",
					Queries: []Query{perAcquisition("orwl_lock_waits_total", ""), perAcquisition("orwl_lock_rank_waits_total", ", for a rank")}},
				{Title: "Acquisitions passed on", Unit: Share, About: "Handed over by the holder before, without going through the whole lock, or kept by the goroutine's processor.",
					Queries: []Query{perAcquisition("orwl_lock_passed_total", ""), perAcquisition("orwl_lock_kept_total", ", kept")}},
			}},
			{"Near and far", []Panel{
				{Title: "Local hand-overs", Unit: Share, About: "Of all hand-overs, those that stayed in the part of the machine where they were.",
					Queries: by("orwl_lock_local_handover_ratio")},
				{Title: "Contention", Unit: Share, About: "How often another request was there already, near by or anywhere.",
					Queries: []Query{{`orwl_lock_contention_ratio{here, lock=~"$lock"}`, "{{scope}}, {{lock}} ({{algorithm}}), node {{node}}"}}},
				{Title: "Unfairness", Unit: Count, About: "Coefficient of variation of the acquisitions of the ranks: 0 if all have as many.",
					Queries: by("orwl_lock_fairness_cv")},
			}},
			{"Accesses by algorithm", []Panel{
				{Title: "Wait to acquire", Unit: Seconds, Width: 12, Queries: quantiles("orwl_acquire_wait_seconds", "algorithm, door")},
				{Title: "Hold", Unit: Seconds, Width: 12, Queries: quantiles("orwl_hold_seconds", "algorithm, door")},
			}},
			{"Hand-overs", []Panel{
				{Title: "Hand-over", Kind: Heat, Unit: Seconds, Width: 12, About: "From a release to the acquisition by the next waiter.",
					Queries: heat("orwl_handover_seconds")},
				{Title: "Hand-overs to a waiter", Unit: PerSecond, Width: 9, About: "On this node, and from another.",
					Queries: []Query{{"sum by (scope) (rate(orwl_handover_seconds_count{here}[$__rate_interval]))", "{{scope}}"}}},
				{Title: "Broken locks", Kind: Number, Unit: Count, Alarm: 1, Height: panelHeight, Queries: []Query{{"sum(orwl_broken_locks{here})", "broken"}}},
			}},
		},
	}
}
