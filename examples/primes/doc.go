// Counts primes, in stages. What a stage has to do follows from what the one before has found, so it
// is declared between two runs:
//
//	go run ./examples/primes -nodes 4
package main
