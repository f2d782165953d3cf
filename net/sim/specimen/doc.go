// Package specimen keeps locks for the simulator to judge: a few that are right
// and more that are wrong, each wrong one with a single planted or printed
// mistake. The simulator's tests require that it accepts the former and rejects
// the latter; `orwl sim` shows how. Locks to use are in package locks.
package specimen
