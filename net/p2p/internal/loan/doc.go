// Package loan is what the nodes of one machine lend each other: memory that one node
// writes and the others read where it lies.
//
//	Arena     memory of this node that its neighbours map
//	Offer     how a neighbour finds an arena
//	Mapping   the arena of a neighbour, as this node reads it
//	Memory    the arena for users: made when it is first needed, ordinary memory without
//	Spares    memory that streams keep for the next large bulk
//
// A block of an arena is used again when its owner has forgotten it and every loan of
// it is settled. A loan to a node that was given up is never settled, because that node
// may still read it. So the owner first sets a bit in the head of the arena, and a
// borrower looks at the bit when it has made its copy ([Mapping.Valid]).
//
// An arena has one lock, Arena.mu, and calls no other package while it holds it. Mapping.mu is
// held, to read, from Borrow to GiveBack. The package knows no node and no stream.
package loan
