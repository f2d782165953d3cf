// Package topology describes a machine as a tree, which tells what two ranks
// have in common: a core, a socket, a node, or only the machine.
//
// A [Tree] has levels 1..N. Level 1 is the whole machine, always one element.
// Level N is the finest level above the ranks. Every rank is a leaf. The leaves
// are not a level of their own, because a queue of one rank orders nothing. The
// tree of §4.4 of "High-Performance Distributed RMA Locks" has N = 3, four
// sub-elements in each element and therefore 4^3 processes:
//
//	tree, err := topology.Parse("rack:4 node:4 core:4")
//	if err != nil {
//		return err
//	}
//	fmt.Println(tree.Ranks(), "ranks")
//	// Output:
//	// 64 ranks
//
// Its levels are machine (1 element), rack (4) and node (16), with four ranks in
// each node.
//
// The package reads no file and makes no system call. Package host does, for the
// machine that a program runs on.
//
// # Numbers
//
// Levels count from 1, as in the paper. Ranks and the elements of a level count
// from 0, from left to right over the whole machine.
//
// # Invariants
//
// A Tree never changes once it is made, so any number of goroutines may use it.
// For every tree:
//
//   - an element holds at least one rank, and its ranks are contiguous;
//   - every element lies inside one element of the level above;
//   - level 1 has one element;
//   - names go from coarse to fine, and each occurs once.
//
// # Where trees come from
//
// [Flat] and [Parse] make symbolic trees, for simulations and for machines that
// the caller knows. [FromCPUs] takes a list of CPUs and keeps their numbers.
// host.Detect makes that list for the machine that it runs on. Three methods
// derive a tree from another one: [Tree.Under] puts a node's tree under racks
// and nodes; [Tree.WithRanks] and [Tree.Spread] change the number of ranks.
//
//	node := topology.Flat(8) // or host.Detect()
//	cluster, err := node.Under("rack:2 node:4")
//	if err != nil {
//		return err
//	}
//	run, err := cluster.WithRanks(32)
//	if err != nil {
//		return err
//	}
//	fmt.Println(cluster.Ranks(), run.Ranks())
//	// Output:
//	// 64 32
//
// # Errors
//
// A bad description gives a [*ParseError], which points at the bad word. A rank,
// level or element out of range is a bug in the calling program and panics with
// a [*RangeError]. This keeps errors out of the methods that every lock
// operation calls: [Tree.Element], [Tree.TailRank], [Tree.Common] and
// [Tree.Counter].
package topology
