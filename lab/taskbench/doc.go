// Package taskbench is Task Bench (Slaughter et al., SC 2020) for ORWL and for its peers: a task
// graph by parameters, whose tasks check whose output they read, compute for a given time, and
// write their own output. `orwl-lab taskbench` is its command line, and lab/docs/taskbench.md its manual.
//
//	g := taskbench.NewGraph(0)
//	g.Pattern, _ = taskbench.PatternByName("stencil_1d")
//	err := g.Choose()
//	s, err := taskbench.NewSchedule(g)
//	system, err := taskbench.Open("orwl", taskbench.Options{Workers: 2})
//	result, err := system.Run(ctx, []*taskbench.Schedule{s})
//
// A [Graph] has the parameters, and a [Pattern] is the rule of the dependences. A [Schedule] has
// them looked up, and is what every [System] runs. All systems run the same tasks: the same
// checks, the same kernels, the same checksum. [METG] searches for the smallest task that still
// pays.
//
// # The form in ORWL
//
// The output of a column in a step is a resource. A column has as many of these as the graph has
// fields, and its steps use them in turn. Those steps of a column that write the same field and
// have the same set of dependences are the rounds of one task. It writes that field, and reads
// what each of its steps reads: nothing more in any round. The first step of a column lacks
// inputs, so it is a task of its own, with one round.
//
// The tasks are declared in the order of the steps. So the canonical order runs one step of each
// column, then the next one, as a sequential program would. It lives, and each read finds the
// output of the step before. Columns that begin late, as in dom and tree, count their rounds
// from their own first step: then they, too, read the same columns in every round, of this round
// or of the last. [newPlan] refuses a graph for which this order is wrong.
package taskbench
