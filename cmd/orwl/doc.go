// Command orwl is the toolbox beside the library:
//
//	orwl run        start a program on several nodes of this machine, and end them together
//	orwl serve      keep locks by name for any process
//	orwl lock       run a command while such a lock is held
//	orwl holders    show who holds such locks and who waits, or release one by force
//	orwl locks      show the table of locks: what each promises, takes and costs
//	orwl vet        say whether a system of tasks lives for ever, or where it deadlocks
//	orwl trace      say where the time of a recorded run went, and which tasks it waited for
//	orwl play       serve a page with a simulator of tasks and locks
//	orwl topo       show the machine as the tree that the locks see
//	orwl place      put tasks near those they share with, on a described machine
//
// Each has -h. orwl version, orwl completion and orwl man are for its users' shells.
//
// The exit code is 0 when all is well, 1 when something failed or is wrong, 2 when the command line
// makes no sense, and 130 after Ctrl-C. orwl run ends with the code of the first node that failed,
// orwl lock with the code of its command.
package main
