// Package gathering gives all nodes of a run what all have given under one name. A [Member] is a
// node's part. It is a step function, like membership.Member, and follows that package's epochs:
//
//	node   ──Give──▶ chair     the most senior member of the epoch
//	       ◀─All──             when all members have given; nil for nodes that had gone
//
// A node may give something else until the chair has the gifts of all. Each gift has a number, its
// try, because messages overtake each other. The list tells which one came in time. A gathering
// may be among some nodes only. Then the others neither give, nor get the list.
//
// # When the chair is lost
//
// Then the next chair may gather again what some node has got already, and the lists must be the
// same. So each node tells a new chair what it waits for (Give), and the last list that it has
// got under each name (All). A chair that has a list, or hears of it, hands it on. Otherwise no
// member has got one, for each has said that it still waits.
//
// The chair is the most senior member, so no chair comes before one that has been the chair.
//
// An older list is not needed. All nodes had given to the later gathering of that name, so all
// had got the earlier one, or did not want it any more. [Member.Forget] forgets the last one, too, and what never
// became complete: else a run of many lives would have [MostOpen] open gatherings in the end.
// So a gathering among some lives needs all members that had given to an earlier one of that name.
// Otherwise one of them could wait for a list that no other node keeps.
//
// # New lives
//
// A node that comes back gives to round 1 of a name. If that was over before it came in, it gets the
// list, and gives to the next round instead: a list says in which epoch it was complete. A new chair
// may have been told the list before it gives. Then it begins with the next round. Where all
// members must give, the gift of its former life is forgotten. A gathering among some nodes is among
// lives.
package gathering
