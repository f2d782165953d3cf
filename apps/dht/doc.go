// Command dht is the distributed hash table of "High-Performance Distributed RMA
// Locks" (HPDC'16, §5.3):
//
//	dht bench     look up and insert elements of one volume from all other ranks, as the paper does
//
// Each has -h. It exits with 0 when all is well, 1 when something went wrong, and 2
// when it was not asked properly.
package main
