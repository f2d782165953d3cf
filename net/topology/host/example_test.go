package host_test

import (
	"fmt"
	"log"

	"github.com/orwl/go-orwl/net/topology"
	"github.com/orwl/go-orwl/net/topology/host"
)

// Rank 0 runs on its own CPU.
func Example() {
	tree, err := host.Detect()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(tree.Picture())
	unpin, err := host.Pin(tree, topology.Rank(0))
	if err != nil {
		log.Fatal(err)
	}
	defer unpin()
	// Compute here.
}
