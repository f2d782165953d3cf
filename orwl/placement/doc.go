// Package placement proposes a rank of a machine for each task, so that tasks that share
// much are close together. It takes the graph of what tasks give each other in a round, and
// the tree of the machine.
//
//	g, err := placement.GraphOf(tasks, accesses, sizes)
//	p, err := placement.Place(tree, g)
//	p.Report(os.Stdout)
//
// The same graph and tree give the same placement everywhere. It never costs more than the
// tasks in their order. [Placement.Why] says for each task why it is where it is.
//
// Package orwl places the tasks of a run on its nodes with it, and step tasks on the
// workers of a node. This package itself only proposes: it starts and pins nothing.
package placement
