package launch

import (
	"fmt"
	"time"
)

// Place is a process's part of a run.
type Place struct {
	// Node is the number of this node, of Nodes.
	Node, Nodes int
	// Root is where node 0 is, as host:port. Node 0 itself has none.
	Root string
	// Listen is where to listen, as host:port; port 0 is any. It is empty if there is one node
	// and no variable asks it to listen.
	Listen string
	// Peers is where all nodes are, by their numbers, if that is known. Root is the
	// first of them then, except for node 0.
	Peers []string
	// Key is the cluster key, nil if there is none.
	Key []byte
	// Lease is how long a node counts as present after it was last heard; 0 if no variable says
	// so.
	Lease time.Duration
	// How is who said so.
	How How
	// Begin is how many nodes begin the run, those with the lowest numbers. The others are free
	// numbers, until processes come late. 0 is all.
	Begin int
	// Late says that the node comes to a run that goes on: it does not begin, or was lost, or has
	// left. See orwl.Runtime.Late.
	Late bool
	// Report tells the process that started this one where it listens, once, as host:port. It is
	// nil if no process waits for that.
	Report func(address string) error
	// Unmet says that the process knows only how many nodes there are, and finds the others by
	// their key: see orwl.Meet, which gives it a number.
	Unmet bool
	// Left is told when the process has left the run; nil if nothing waits for that.
	Left func()
	// GoOn tells the process that started this one that the run has begun, and goes on without
	// nodes that are lost from now on; or that this late node is in it. Until then the first
	// node that fails ends all. It is nil if Report is.
	GoOn func() error
	// Done tells the process that started this one that the run has ended well here, and so for all: a node that fails later
	// was given up by then. It is nil if Report is.
	Done func() error
	// Progress tells the process that started this one how far it is, as often as it likes. It is
	// nil if no process wants to know.
	Progress func(Progress) error
}

// How names who said which node a process is.
type How string

// The sources of a place.
const (
	Alone       How = "alone"       // no source
	Spawned     How = "spawned"     // Spawn, which started it on its own machine
	SSH         How = "ssh"         // Spawn, which started it over ssh
	Environment How = "environment" // ORWL_NODE
	OpenMPI     How = "openmpi"     // Open MPI's mpirun
	MPICH       How = "mpich"       // MPICH's or Intel's mpiexec, which is Hydra
	Slurm       How = "slurm"       // srun
	PMIx        How = "pmix"        // some other launcher that speaks PMIx
	Kubernetes  How = "kubernetes"  // the name of a pod
	Rendezvous  How = "rendezvous"  // the nodes themselves, which ORWL_JOIN lets find each other
)

// BySpawn reports whether Spawn has started the process. Spawn then waits for it, and tells how
// it ended.
func (h How) BySpawn() bool { return h == Spawned || h == SSH }

// PortOffset is what a program adds to a port of its own, so that the nodes of one machine do not
// meet there. In Kubernetes each node has an address of its own, and the same port.
func (p Place) PortOffset() int {
	if p.How == Kubernetes {
		return 0
	}
	return p.Node
}

// String is a place in a line, without its key.
func (p Place) String() string {
	text := fmt.Sprintf("node %d of %d (%s)", p.Node, p.Nodes, p.How)
	if p.Unmet {
		text = fmt.Sprintf("one of %d nodes (%s)", p.Nodes, p.How)
	}
	if p.Root != "" {
		text += ", root at " + p.Root
	}
	if p.Listen != "" {
		text += ", listens on " + p.Listen
	}
	if p.Key != nil {
		text += ", has a key"
	}
	if p.Late {
		text += ", comes late"
	}
	return text
}
