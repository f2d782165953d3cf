// Counts primes on several nodes. A node that is killed is started again and takes part from the next
// phase on. The others go on meanwhile:
//
//	ORWL_RESTARTS=10 go run ./examples/primes -nodes 3
//
// Node 0 keeps the board with the results. If that one is killed, the run ends.
package main
