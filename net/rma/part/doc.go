// Package part makes some ranks of a fabric a fabric of their own.
//
// A window serves one goroutine at a time, also while it waits. So two things that must
// not hold up one another, such as two locks of which each may be waited for, need
// different ranks. They need no different fabrics: each gets a part of the ranks.
//
//	whole   0 1 2 3 4 5 6 7     node 0 has 0 to 3, node 1 has 4 to 7
//	part A  0 1     2 3
//	part B      0 1     2 3
//
// A part has a topology of its own, and its memory is the same displacements at other
// ranks: n parts take the memory of their own ranks only. Windows of a part do as the
// contract says because those of the whole do.
package part
