// Package topology is the machine as a tree: who is close to whom.
//
// A [Tree] has levels 1..N, from the whole machine (level 1, always one
// element) to the finest level above the ranks. Every rank is a leaf, and the
// leaves are not a level: a queue of one rank orders nothing. So the tree of
// §4.4 of "High-Performance Distributed RMA Locks", N = 3 with four
// sub-elements each and therefore 4^3 processes, is
//
//	tree, err := topology.Parse("rack:4 node:4 core:4")
//
// whose levels are machine (1 element), rack (4) and node (16), with four ranks
// in each node.
//
// # Numbers
//
// Levels count from 1, as in the paper. Elements and ranks count from 0.
// Elements of a level are numbered from left to right over the whole machine.
//
// # Invariants
//
// A Tree never changes after it was made, so any number of goroutines may use
// it. For every tree:
//
//   - an element holds at least one rank, and its ranks are contiguous;
//   - every element lies inside one element of the level above;
//   - level 1 has one element;
//   - names go from coarse to fine and none repeats.
//
// # Where trees come from
//
// [Flat] and [Parse] make symbolic trees, for simulations and for machines that
// the caller knows. [FromCPUs] takes a list of CPUs, whose numbers the leaves
// then carry. Package host makes that list for the machine on which it runs. The rest derive one from another:
// [Tree.Under] stands a node's tree under racks and nodes, [Tree.WithRanks] and
// [Tree.Spread] let the same machine carry another number of ranks.
//
//	node, err := host.Detect()
//	cluster, err := node.Under("rack:2 node:4")
//	run, err := cluster.WithRanks(64)
//
// # Mistakes
//
// A description that cannot be read gives a [*ParseError] that points at the
// bad word. A rank, level or element out of range is a mistake of the program
// and panics with a [*RangeError]; the methods that take part in every lock
// operation ([Tree.Element], [Tree.TailRank], [Tree.Common], [Tree.Counter])
// therefore return no error.
package topology
