package topology_test

import (
	"fmt"
	"log"

	"github.com/orwl/go-orwl/net/topology"
)

// A lock asks a machine of two racks for its queues and counters.
func Example() {
	tree, err := topology.Parse("rack:2 node:2 core:4")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(tree.Picture())
	p := topology.Rank(13)
	for i := tree.Levels(); i >= 1; i-- {
		j := tree.Element(p, i)
		fmt.Printf("rank %d queues in %s %d, the tail is on rank %d\n", p, tree.LevelName(i), j, tree.TailRank(i, j))
	}
	fmt.Printf("ranks 8 and 13 meet in their %s\n", tree.LevelName(tree.Common(8, 13)))
	fmt.Printf("rank %d counts as a reader on rank %d\n", p, tree.Counter(p, 8))
	// Output:
	// machine: 16 ranks
	// └─ 2 × rack (0-1): 8 ranks each
	//    └─ 2 × node: 4 ranks each
	//       └─ 4 × core
	// rank 13 queues in node 3, the tail is on rank 12
	// rank 13 queues in rack 1, the tail is on rank 8
	// rank 13 queues in machine 0, the tail is on rank 0
	// ranks 8 and 13 meet in their rack
	// rank 13 counts as a reader on rank 8
}

// The error points at the mistake.
func ExampleParse_mistake() {
	_, err := topology.Parse("rack:2 noed:4 core:8")
	fmt.Println(err)
	// Output:
	// topology: unknown level "noed", did you mean "node"?
	// 	rack:2 noed:4 core:8
	// 	       ^~~~
	// 	allowed: machine, group, rack, node, socket, numa, cache, core, thread, rank
}

// Ten ranks share a cluster of four equal nodes, packed or spread.
func ExampleTree_Under() {
	node, err := topology.Parse("socket:2 core:2") // or host.Detect()
	if err != nil {
		log.Fatal(err)
	}
	cluster, err := node.Under("node:4")
	if err != nil {
		log.Fatal(err)
	}
	packed, err := cluster.WithRanks(10)
	if err != nil {
		log.Fatal(err)
	}
	spread, err := cluster.Spread(10)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(cluster)
	fmt.Println(packed)
	fmt.Println(spread)
	// Output:
	// node:4 socket:2 core:2
	// node:3 socket:2*2+1 core:2
	// node:4 socket:2 core:2+1*3+2+1*3
}
