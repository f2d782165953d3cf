// Counts primes on as many nodes as there are. A node that is killed is started again, and a signal adds a
// node. The others go on meanwhile:
//
//	ORWL_RESTARTS=10 ORWL_BEGIN=2 go run ./examples/primes -nodes 4
//	pkill -USR1 -o primes
//
// Node 0 keeps the board with the results. If that one is killed, the run ends.
package main
