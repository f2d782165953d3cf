// Package worlds plays whole runs in virtual time, each from one seed. It has only tests.
//
// A world is a run in a bubble of testing/synctest: its processes are goroutines, and package p2ptest has the network below
// them. Everything above the sockets is what programs run: libp2p, lanes, membership, gatherings, lives, cuts, the plan. A seed draws the
// program, the delays and the faults. The scheduler of Go draws the rest, so a seed plays nearly the same again:
//
//	go test ./orwl/internal/worlds -worlds 17+1
//
// All processes end. Each ends with the bits of an undisturbed run, or with an error that its faults explain. If a world has one fault, the
// others have the result, and a life begins from the last whole cut.
package worlds
