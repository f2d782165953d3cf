// Package guards has the guards of the resources with relaxed access from every node. All are locks
// of one fabric over the nodes. Each has ranks of its own, as a part of that fabric, because
// a wait at one guard must not hold up another:
//
//	fabric   node 0: guard 0 │ guard 1 │ ...    node 1: guard 0 │ guard 1 │ ...
//	guard    ordered, bytes, relaxed ...        (ordered), bytes, relaxed ...
//
// Its tree is the nodes with their sockets, caches and cores, a group for each machine where some
// nodes share one. RMA-RW has one counter at each node, the first of the guard's ranks there.
// So a reader touches only its node, and writers pass the guard on inside a machine first.
package guards
