// Package spread decides which node runs which task, and which node keeps which resource. It knows
// a [Program] as numbers, and nothing of the runtime. Every function is pure, so all nodes decide
// alike.
//
//	program, machines ──▶ Divide ──▶ a node for each task ──▶ HomesFor ──▶ a home for each resource
//	                                                      └─▶ Crossing ──▶ bytes from node to node
//
// Package placement cuts the graph of tasks into pieces. This package makes the graph, and gives
// the pieces to nodes by what the program has said: see Task.On and Runtime.Home of package orwl.
package spread
