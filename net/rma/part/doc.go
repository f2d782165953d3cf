// Package part makes some ranks of a fabric a fabric of their own.
//
// A window serves one goroutine at a time, also while it waits. So two locks
// that must not hold up one another need different ranks. They need no different fabrics:
// each gets a part of the ranks.
//
//	whole   0 1 2 3 4 5 6 7     node 0 has 0 to 3, node 1 has 4 to 7
//	part A  0 1     2 3
//	part B      0 1     2 3
//
// A part has a topology of its own. Its displacements are the same as in other parts, and the
// ranks are different, so a part takes memory of its own ranks only. The windows of a part
// keep the contract because the windows of the whole do.
package part
