package main

import "github.com/orwl/go-orwl/internal/command"

// The flags of commands that have many, as their help shows them.

var lockGroup = command.Group{Title: "options of the lock", Flags: "tl tdc tr tw step-back"}

var simGroups = []command.Group{
	{Title: "what to play", Flags: "lock play topology acquire ranks"},
	{Title: "how far", Flags: "seeds states"},
	{Title: "one run again", Flags: "seed schedule"},
	lockGroup,
	{Title: "output", Flags: "json csv"},
}

// playGroups are the groups of planFlags. A command adds its own flags about where it plays, and what.
func playGroups(where, what string) []command.Group {
	return []command.Group{
		{Title: "what to play", Flags: "bench lock " + what},
		{Title: "where", Flags: where + " ranks nodes topology machine"},
		{Title: "the work", Flags: "fw inside outside vary"},
		{Title: "how long", Flags: "time turns repeats seed unchecked uncounted"},
		lockGroup,
		{Title: "output", Flags: "json csv html"},
	}
}

var taskBenchGroups = []command.Group{
	{Title: "the graph", Flags: "type width steps kernel iter output and"},
	{Title: "more of the graph", Flags: "radix period fraction scratch sample imbalance field"},
	{Title: "what runs it", Flags: "system worker nodes"},
	{Title: "the smallest task", Flags: "metg threshold repeats"},
	{Title: "output", Flags: "v vv skip-graph-validation"},
}

// tuneGroups are the groups of orwl-lab tune.
func tuneGroups() []command.Group {
	all := playGroups("window", "")
	all[len(all)-1].Flags = "json csv"
	return append([]command.Group{{Title: "the search", Flags: "recorded goal cv p99 budget candidates search default"}}, all...)
}
