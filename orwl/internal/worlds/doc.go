// Package worlds plays whole runs in virtual time, each from one seed. It has only tests.
//
// A world is a run in a bubble of testing/synctest: its processes are goroutines, and package p2ptest has the network below
// them. Everything above the sockets is what programs run: libp2p, lanes, membership, gatherings, lives, cuts, the folder, the plan. A seed draws the
// program, the disks, the delays and the faults. The scheduler of Go draws the rest, so a seed plays nearly the same again:
//
//	go test ./orwl/internal/worlds -worlds 17+1
//
// A program is a ring of tasks, tasks that do not wait for each other, a grid, or stages: several runs on the same resources. Half of the
// worlds have disks. There all processes may be killed, and the same command begins again, on as many nodes as the seed says:
//
//	command ──▶ faults ──▶ all are killed ──▶ disks lose what was not synced ──▶ a file is damaged ──▶ command ──▶ ...
//
// A fault comes at a time, at a line of the log, or at an event: a copy arrives, a part is written, a cut is restored, nodes agree.
//
// All processes end. Each ends with the bits of an undisturbed run, or with an error that its faults explain. If a command has one fault, the
// others have the result, and a life begins from the last whole cut. So does a life whose nodes share a disk, whatever happens. A command begins from the
// last whole cut, or from the one before if a file of that is damaged. A run that ends well leaves no cut on its disks.
package worlds
