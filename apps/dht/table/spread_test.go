package table

import (
	"fmt"
	"math"
	"testing"
)

// TestSpread looks at where a million keys go: no node has more than a few parts in a
// hundred above its share, as far as whole volumes allow, and no volume much more than chance
// gives it.
func TestSpread(t *testing.T) {
	const keys = 1 << 17
	for _, nodes := range []int{1, 2, 3, 5, 16} {
		volumes := volumesPerNode * nodes
		homes := homesOf(volumes, nodes)
		count := make([]int, volumes)
		for i := range keys {
			count[volumeOf(defaultHash(fmt.Append(nil, "key:", i)), volumes)]++
		}
		mean := float64(keys) / float64(volumes)
		onNode := make([]int, nodes)
		for v, n := range count {
			onNode[homes[v]]++
			if d := math.Abs(float64(n) - mean); d > 6*math.Sqrt(mean) {
				t.Errorf("volume %d of %d has %d keys, want about %.0f", v, volumes, n, mean)
			}
		}
		for node, n := range onNode {
			if d := math.Abs(float64(n) - volumesPerNode); d > 4*math.Sqrt(volumesPerNode) {
				t.Errorf("node %d of %d has %d volumes of %d", node, nodes, n, volumes)
			}
		}
	}
}

// TestRendezvous adds a node: volumes move to it, about its share, and nowhere else.
func TestRendezvous(t *testing.T) {
	const volumes = 1 << 12
	for nodes := 1; nodes < 10; nodes++ {
		before, after, moved := homesOf(volumes, nodes), homesOf(volumes, nodes+1), 0
		for v := range volumes {
			if before[v] != after[v] {
				moved++
				if after[v] != nodes {
					t.Fatalf("volume %d moves from node %d to %d when node %d is added", v, before[v], after[v], nodes)
				}
			}
		}
		share := float64(volumes) / float64(nodes+1)
		if math.Abs(float64(moved)-share) > 5*math.Sqrt(share) {
			t.Errorf("%d of %d volumes move to node %d, want about %.0f", moved, volumes, nodes, share)
		}
	}
}
