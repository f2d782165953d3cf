// Package balance gives nodes of different speed different shares of the work.
//
// The work of a program is its units: blocks of a grid, or tasks that the runtime places. Each node of a life has a weight.
// [Shares] says how many units each node gets, by the weights alone. All nodes compute the same.
//
//	a life: each node measures its [Load] ──▶ chair: Watch.Add at each cut ──▶ weights of the next life ──▶ Shares
//
// The chair of a life compares what the nodes have done between two cuts. A node's speed is what it has done in the time in
// which its workers computed, or waited for a processor. So the speed does not depend on how fast the other nodes are, or on bodies that sleep: they
// would sleep on another node, too.
//
// # When a life ends for it
//
// The end of a life costs some time, its price. Nobody knows how long the run goes on, or whether a node stays slow. So a life ends when
// the imbalance of this life has cost as much as the price. At worst, both together are twice what they must be.
//
// A small imbalance costs nothing: it is within what is measured wrongly. A window in which a node was slow for the last part only says
// too little, so two windows in a row must say that another division pays.
//
// The measure may be wrong for a program: its tasks differ, a node's speed depends on what it gets, or all change all the time. So after each
// such end the price counts twice as much. It counts half as much again when the division has been good for long.
//
// [Shares] and [Watch] are pure: no clock, no goroutine, no random number.
package balance
