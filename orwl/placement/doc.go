// Package placement puts tasks that share much close together on a machine: tasks
// to ranks, given what each hands to which others, and the tree of levels whose
// leaves the ranks are.
//
//	g, err := placement.GraphOf(tasks, accesses, sizes)
//	p, err := placement.Place(tree, g, placement.Options{})
//	p.Report(os.Stdout)
//
// It is deterministic, never worse than the tasks in their order, and says for each
// task why it is where it is ([Placement.Why]). What it proposes is where memory
// lies and which node runs what; nothing is pinned, since handing over between
// goroutines that are pinned costs a hundred times what it costs otherwise.
package placement
