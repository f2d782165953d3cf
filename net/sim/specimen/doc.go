// Package specimen has locks for the simulator to judge. A few of them are right.
// The others are wrong, each with one mistake: planted, or printed in a paper. The
// simulator's tests require that it accepts the right locks and rejects the wrong
// ones. `orwl-lab sim` shows how. For locks to use, see package locks.
package specimen
