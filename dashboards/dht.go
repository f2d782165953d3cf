package dashboards

// dht is what clients of apps/dht ask for, how long it takes, and how full it is.
func dht() Dashboard {
	return Dashboard{
		UID: "orwl-dht", Title: "ORWL: hash table",
		About: "Commands by name, how long they take, and how full the volumes are.",
		Rows: []Row{
			{"Commands", []Panel{
				{Title: "Commands", Unit: PerSecond, Stack: true, Queries: []Query{{"sum by (command) (rate(dht_commands_total{here}[$__rate_interval]))", "{{command}}"}}},
				{Title: "Time of a command", Unit: Seconds, Queries: quantiles("dht_command_seconds", "")},
				{Title: "Slowest commands", Unit: Seconds, About: "The slowest one in a hundred of each.",
					Queries: []Query{{"histogram_quantile(0.99, sum by (le, command) (rate(dht_command_seconds_bucket{here}[$__rate_interval])))", "{{command}}"}}},
				{Title: "Not done", Unit: PerSecond, Width: 12, About: "By what became of them.",
					Queries: []Query{{`sum by (command, outcome) (rate(dht_commands_total{here, outcome!="ok"}[$__rate_interval]))`, "{{command}}, {{outcome}}"}}},
				{Title: "Time of commands", Kind: Heat, Unit: Seconds, Width: 12, Queries: heat("dht_command_seconds")},
			}},
			{"Contents", []Panel{
				{Title: "Keys", Unit: Count, Stack: true, Queries: []Query{{"sum by (node) (dht_keys{here})", "node {{node}}"}}},
				{Title: "Volumes", Unit: Bytes, Stack: true, Queries: []Query{{"sum by (node) (dht_volume_bytes{here})", "node {{node}}"}}},
				{Title: "Clients", Unit: Count, Stack: true, Queries: []Query{{"sum by (node) (dht_connections{here})", "node {{node}}"}}},
			}},
			{"Behind it", []Panel{
				{Title: "Wait for a volume", Unit: Seconds, Width: 12, Queries: quantiles("orwl_acquire_wait_seconds", "mode, door")},
				{Title: "Accesses to volumes", Unit: PerSecond, Width: 12, About: "By mode and door.",
					Queries: []Query{{`sum by (mode, door) (rate(orwl_accesses_total{here, outcome="acquired"}[$__rate_interval]))`, "{{mode}}, {{door}}"}}},
			}},
		},
	}
}
