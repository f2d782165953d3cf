package table

import "math/bits"

// Which volume a key is in, its hash says; and which node keeps a volume, rendezvous
// hashing: the one whose number, mixed with the volume's, is the greatest. With one node
// more, no volume moves but to that.

// volumeOf is the volume of a hash, by its upper bits: the lower ones choose a bucket.
func volumeOf(hash uint64, volumes int) int {
	high, _ := bits.Mul64(hash, uint64(volumes))
	return int(high)
}

// homesOf are the nodes of all volumes.
func homesOf(volumes, nodes int) []int {
	homes := make([]int, volumes)
	for i := range homes {
		homes[i] = homeOf(i, nodes)
	}
	return homes
}

// homeOf is the node of a volume.
func homeOf(volume, nodes int) (best int) {
	greatest := uint64(0)
	for node := range nodes {
		if w := mix(mix(uint64(volume)+1) ^ mix(^uint64(node))); w >= greatest {
			best, greatest = node, w
		}
	}
	return best
}

// mix is a bijection in which every bit counts everywhere (SplitMix64's last steps).
func mix(x uint64) uint64 {
	x ^= x >> 30
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 27
	x *= 0x94d049bb133111eb
	return x ^ x>>31
}
