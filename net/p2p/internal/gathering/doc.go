// Package gathering gives all nodes of a run what all have given under one name. A [Member] is a
// node's part. It is a step function, like that of package membership, whose epochs it follows:
//
//	node   ──Give──▶ chair     the lowest member of the epoch
//	       ◀─All──             when all members have given; nil for nodes that had gone
//
// # When the chair is lost
//
// Then the next chair may gather again what some node has got already, and the lists must be the
// same. So each node tells a new chair what it waits for (Give), and the last list that it has
// got under each name (All). A chair that has a list, or hears of it, hands it on. Otherwise no
// member has got one, for each has said that it still waits.
//
// An older list is not needed. All nodes had given to the later gathering of that name, so all
// had got the earlier one, or did not want it any more.
package gathering
