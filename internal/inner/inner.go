package inner

import (
	"context"
	"errors"

	"github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/net/node"
	"github.com/orwl/go-orwl/resource"
)

// Runtime is more of an *orwl.Runtime.
type Runtime interface {
	// Snapshots declares that Snapshot copies the resource while a run goes on. A task that writes it then takes a lock in
	// each round, and waits for a copy that is under way.
	Snapshots(r *resource.Resource)
	// Snapshot appends the bytes of a resource to dst as they are between two writes, and returns how many writes there
	// were: the version. It may be called on any node, before, in and after a run; on several nodes, the first run has
	// begun. A task that holds an access must not call it, so no body of Each. The bytes may be poisoned: see
	// resource.ErrPoisoned.
	Snapshot(ctx context.Context, r *resource.Resource, dst []byte) (bytes []byte, version uint64, err error)
	// Leave asks this node to leave the run at the next cut, as SIGTERM does. It reports whether it will: a cut must be able to hold what the
	// node has.
	Leave() bool

	// Grid has Inspect say how far a grid is: how many sweeps of blocks this node has done, and how many there are. progress
	// may be called at any time.
	Grid(name string, progress func() (done, total int64))

	// Weights says by node how much of the work each one gets in this life: see package balance.
	Weights() []int

	// Network is this node's part in the network, nil if there is no other node.
	Network() node.Node
}

// Task is more of an *orwl.Task.
type Task interface {
	// Read and Write declare an access in each round, and return its *orwl.Access.
	Read(r *resource.Resource) any
	Write(r *resource.Resource) any
	// Accesses are what the task has declared, in that order.
	Accesses() []Access
	// Unit says that the task stands for a unit of the work that the nodes have got by their weights.
	Unit()
	// Did is how many rounds of the task have ended in this life. Any goroutine may ask.
	Did() int64
}

// Access is an *orwl.Access.
type Access interface {
	Place() *queue.Place // its request
	Resource() *resource.Resource
	Mode() queue.Mode
}

// ErrEarly is a relaxed access or a snapshot on one of several nodes, before they know who keeps what.
var ErrEarly = errors.New("orwl: relaxed access or snapshot before Run, on one of several nodes: make it after Run has begun")

// Of an *orwl.Runtime, an *orwl.Task and an *orwl.Access.
var (
	OfRuntime func(rt any) Runtime
	OfTask    func(task any) Task
	OfAccess  func(access any) Access
)

// KeepCuts has a run keep its cuts on a disk of package orwl/internal/folder, and not in a directory of the system. Options is an
// *orwl.Options.
var KeepCuts func(options, disk any)

// Computes has a run take from a function for how long its process has computed, in nanoseconds: see ran in package orwl. Options is an *orwl.Options.
var Computes func(options any, ran func() int64)
