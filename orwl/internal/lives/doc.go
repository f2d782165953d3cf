// Package lives lets a run go on after the loss of a node. A run is a sequence of lives. In a life nothing changes; a
// loss ends it. The next life begins from a cut, on the nodes that are there.
//
// A cut is what all tasks have written up to the end of a round. Which version of a resource that is follows from the
// program alone. So a cut needs no barrier: each task adds its [Record] when it ends the round, and goes on.
//
//	chair ──Ask 60──▶ all           each node that has not passed round 60 will record it
//	      ◀─Past──── node           it has passed it: the chair asks for a later round
//	owner ──Part───▶ buddy          a record of one of the owner's tasks
//	chair ◀─Have──── buddy          it has all records of the owner
//	chair ──Whole 60─▶ all          all nodes have a buddy that has them: older cuts are dropped
//
// The chair is node 0 of the life. The buddy of a node is another node, which keeps a copy. A life of one node has no
// buddies: what the node keeps is the cut.
//
// # The next life
//
// When a life has ended on all nodes that are left, each tells the others which records it keeps: its [Report]. All get the
// same reports, so all find the same [Plan] of a run by a pure function: the latest cut that the reports have all records of,
// and a holder of each record. There is no other agreement. A plan is for one life. If a node is lost before that life has
// begun, the life ends, too, and there are reports again.
//
// The next life may have the tasks on other nodes. Each holder sends the records to the new owners. These give the resources
// their contents. A new owner also sends them to its buddy, as for any cut, so the first cut of the new life becomes whole, and a
// second loss costs no more than the first one.
//
// # Several runs
//
// A program may have several runs, one after another. A cut belongs to one of them, and at the end of a run there may be a cut, too:
//
//	chair ──Ask the end─▶ all           all tasks have ended, so no node has passed it
//	      ◀─Past────── node             its disk is full
//	chair ──None───────▶ all            the run has no cut at its end
//
// A later life begins each run from the latest cut of that run, and so comes to the run in which the last life has ended. Cuts of other runs are
// not dropped meanwhile: see [Judge]. Until the life has come to that run, its cuts have no new copies.
//
// # Ends that are wanted
//
// A node that wants another life tells the chair: because another node has come, or because it leaves itself. The life ends with the next whole cut:
//
//	node  ──Want, Leave─▶ chair
//	chair ──Whole 60, the last──▶ all   each ends the life
//
// Only what the tasks did while the cut became whole is done again. If all nodes leave, the life ends without a cut.
//
// When a node begins a cut, it tells the chair what it has done until then. If nodes differ in speed from what they were given, the chair ends the life
// with that cut, and tells the weights of the next one: see package balance. The end of a run is no such cut, as the run may be the last one.
//
//	node  ──Did──▶ chair
//	chair ──Whole 60, the last, weights──▶ all   each tells the others its own weight, beside its report
//
// # What holds
//
//   - A record of a cut that a life begins from is complete, and is of the task's last round up to the cut's.
//   - After Whole, each loss of one node leaves that cut, or a later one.
//   - Nothing of a former life or of a former run is taken.
//   - A cut of any life has the contents of the same round of any other life: a program computes the same in each.
//     So a life may begin from any cut. An older one only costs more time.
//
// # What is assumed
//
// The chair asks for a cut when all nodes have what the life begins from.
//
// A message from one node to another arrives once, in any order, until the life ends on one of the two. How
// the nodes agree on the reports is a matter of the network below: see packages membership and gathering of net/p2p.
//
// [Keeper] is a step function: an event or a message in, messages out. It has no goroutine, no clock and no socket.
package lives
