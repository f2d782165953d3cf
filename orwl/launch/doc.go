// Package launch says which node of how many this process is, and where the others
// are; and it starts nodes, on this machine or over ssh.
//
//	place, err := launch.FromEnvironment()   // node 2 of 4 (slurm), root at node01:7733
//
// A program is started in the same way everywhere, and its place comes from the environment:
// from the variables below, from the variables of Slurm, Open MPI, MPICH and PMIx, or from the name
// of a pod in Kubernetes. The package links nothing of MPI, and asks a launcher only for its
// variables. Where none are set, the program is alone.
//
//	ORWL_NODE      the number of this node, 0 to ORWL_NODES-1
//	ORWL_NODES     how many nodes there are; 1 keeps the program alone, whoever started it
//	ORWL_ROOT      host:port of node 0
//	ORWL_PEERS     host:port of every node, by number, with commas between
//	ORWL_LISTEN    host:port that this node listens on
//	ORWL_PORT      the port where none is given, 7717 by default
//	ORWL_SERVICE   the headless Service whose pods the nodes are, in Kubernetes
//	ORWL_KEY_FILE  the file with the cluster key, which others may not read
//	ORWL_KEY       the cluster key itself
//	ORWL_SSH       the ssh that Spawn starts nodes on other hosts by, such as ssh -F FILE
//	ORWL_JOIN      how many nodes there are that find each other by their key, without addresses
//	ORWL_LEASE     for how long a silent node is believed to be there, such as 5s
//	ORWL_SURVIVE   the folder where the cuts of a run are on disk; package orwl reads it
//	ORWL_LIVES     a number from 1 on: lives end at random cuts; package orwl reads it
//	ORWL_CARRIER   how nodes carry bytes; package orwl/nodes reads it
//	ORWL_FLIGHT    the folder where a node writes what its tasks did last; package orwl reads it
//	ORWL_BEGIN     how many nodes begin; the others come late
//	ORWL_LATE      1: this node was lost, or has left, and comes back to its run
//	ORWL_RESTARTS  how often Spawn starts a lost node again, in a run that goes on without it
//
// They win over everything that a launcher says, each for what it says. Incomplete or
// contradictory variables are an [ErrEnvironment], a line that names the variable and what to
// do about it: a node that guesses is a node that waits for others for ever. Four more,
// ORWL_LIFELINE_FD, ORWL_REPORT_FD, ORWL_PROGRESS_FD and ORWL_TERMINAL, are between [Spawn] and the nodes
// that it starts.
//
// [Detect] is a function of what it is given, [FromEnvironment] gives it this process.
// [Spawn] starts the nodes of a run, on this machine or over ssh, and ends them together, [Self] is
// what a program's own flag -nodes calls.
package launch
