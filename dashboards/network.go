package dashboards

// network is what goes between nodes, and what is wrong with it.
func network() Dashboard {
	both := func(metric, more string) string {
		return "sum by (" + more + ") (rate(" + metric + "{here}[$__rate_interval]))"
	}
	return Dashboard{
		UID: "orwl-network", Title: "ORWL: network",
		About: "Frames, bytes and round trips between nodes, nodes that are gone, and callers that were refused.",
		Rows: []Row{
			{"Nodes", []Panel{
				{Title: "Nodes as others see them", Unit: Count, About: "Each node counts the others: here, suspected, lost, left.",
					Queries: []Query{{"max by (state) (orwl_net_nodes{here})", "{{state}}"}}},
				{Title: "Round trips", Unit: Seconds, About: "Of heartbeats.", Queries: quantiles("orwl_net_round_trip_seconds", "")},
				{Title: "Round trips by node", Unit: Seconds, About: "The slowest one in a hundred.",
					Queries: []Query{{"histogram_quantile(0.99, sum by (le, node) (rate(orwl_net_round_trip_seconds_bucket{here}[$__rate_interval])))", "node {{node}}"}}},
			}},
			{"Frames and bytes", []Panel{
				{Title: "Frames", Unit: PerSecond, Width: 6, Queries: []Query{{both("orwl_net_frames_total", "direction, kind"), "{{direction}} {{kind}}"}}},
				{Title: "Bytes", Unit: BytesPerSecond, Width: 6, Queries: []Query{{both("orwl_net_bytes_total", "direction, kind"), "{{direction}} {{kind}}"}}},
				{Title: "Bytes out by node", Unit: BytesPerSecond, Width: 6,
					Queries: []Query{{`sum by (node) (rate(orwl_net_bytes_total{here, direction="out"}[$__rate_interval]))`, "node {{node}}"}}},
				{Title: "Loans", Unit: PerSecond, Width: 6, About: "Contents that a node of the same machine has read where they lay.",
					Queries: []Query{{both("orwl_net_loans_total", "direction"), "{{direction}}"}}},
			}},
			{"Resources", []Panel{
				{Title: "Messages", Unit: PerSecond, Queries: []Query{{both("orwl_resource_messages_total", "direction"), "{{direction}}"}}},
				{Title: "Contents", Unit: BytesPerSecond, Queries: []Query{{both("orwl_resource_bytes_total", "direction"), "{{direction}}"}}},
				{Title: "Messages not taken", Unit: PerSecond, Queries: []Query{{both("orwl_resource_refused_total", "reason"), "{{reason}}"}}},
			}},
			{"Sessions", []Panel{
				{Title: "Sessions and their locks", Unit: Count, About: "Processes that use locks by name, and what they hold and wait for.", Queries: []Query{
					{"sum(orwl_sessions{here})", "sessions"},
					{"sum by (state) (orwl_session_locks{here})", "{{state}}"},
				}},
				{Title: "Locks granted", Unit: PerSecond, Queries: []Query{{"sum by (node) (rate(orwl_session_locks_granted_total{here}[$__rate_interval]))", "node {{node}}"}}},
				{Title: "Lost and forced", Unit: Count, About: "Locks whose holder was silent for its lease, and holders that were told to let go.", Queries: []Query{
					{"sum(increase(orwl_session_locks_lost_total{here}[$__rate_interval]))", "lost"},
					{"sum(increase(orwl_session_forced_releases_total{here}[$__rate_interval]))", "forced"},
				}},
			}},
			{"Trouble", []Panel{
				{Title: "Retries, resumed streams, duplicates", Unit: Count, About: "A stream that breaks goes on in another; what was under way is sent again.", Queries: []Query{
					{"sum by (node) (increase(orwl_net_retries_total{here}[$__rate_interval]))", "retry, node {{node}}"},
					{"sum by (node) (increase(orwl_net_resumes_total{here}[$__rate_interval]))", "resumed, node {{node}}"},
					{"sum by (node) (increase(orwl_net_duplicates_total{here}[$__rate_interval]))", "duplicate, node {{node}}"},
				}},
				{Title: "Turned away", Unit: Count, About: "Strangers, nodes that may not join, and frames that are none.",
					Queries: []Query{{"sum by (reason, node) (increase(orwl_net_refused_total{here}[$__rate_interval]))", "{{reason}}, node {{node}}"}}},
				{Title: "Grants that ended without a release", Unit: Count, Queries: []Query{
					{"sum(increase(orwl_leases_expired_total{here}[$__rate_interval]))", "lease expired"},
					{"sum(increase(orwl_revocations_total{here}[$__rate_interval]))", "revoked"},
				}},
			}},
			{"libp2p", []Panel{
				{Title: "Connections", Unit: Count, Stack: true, About: "Open ones, by the side that opened them.", Queries: []Query{
					{"sum by (dir) (libp2p_swarm_connections_opened_total{there}) - (sum by (dir) (libp2p_swarm_connections_closed_total{there}) or " +
						"0 * sum by (dir) (libp2p_swarm_connections_opened_total{there}))", "{{dir}}"},
				}},
				{Title: "Dials that failed", Unit: PerSecond,
					Queries: []Query{{"sum by (error) (rate(libp2p_swarm_dial_errors_total{there}[$__rate_interval]))", "{{error}}"}}},
				{Title: "Handshake", Unit: Seconds, About: "The slowest one in a hundred since the nodes have begun: there are few of them.",
					Queries: []Query{{"histogram_quantile(0.99, sum by (le, security) (libp2p_swarm_handshake_latency_seconds_bucket{there}))", "{{security}}"}}},
			}},
		},
	}
}
