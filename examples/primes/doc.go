// Counts primes, in stages. The work of a stage follows from the primes that the one before has found, so
// it is declared between two runs:
//
//	go run ./examples/primes -nodes 4
package main
