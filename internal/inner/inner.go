package inner

import (
	"context"
	"errors"
	"iter"

	"github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/net/node"
	"github.com/orwl/go-orwl/orwl/liveness"
	"github.com/orwl/go-orwl/resource"
)

// Runtime is more of an *orwl.Runtime.
type Runtime interface {
	// System is the program as package liveness sees it: tasks, accesses and priorities.
	System() liveness.System
	// Policy says what happens to a resource when a task that writes it fails. The default is queue.Discard.
	Policy(r *resource.Resource, p queue.Policy)

	// Snapshots declares that Snapshot copies the resource while a run goes on. A task that writes it then takes a lock in
	// each round, and waits for a copy that is under way.
	Snapshots(r *resource.Resource)
	// Snapshot appends the bytes of a resource to dst as they are between two writes, and returns how many writes there
	// were: the version. It may be called on any node, before, in and after a run; on several nodes, the first run has
	// begun. A task that holds an access must not call it, so no body of Each. The bytes may be poisoned: see
	// resource.ErrPoisoned.
	Snapshot(ctx context.Context, r *resource.Resource, dst []byte) (bytes []byte, version uint64, err error)
	// Relaxed declares relaxed access to a resource, from every node: see resource.Resource.Snapshot and the other kinds
	// there. The run's fabric then has the resource's guard, and its home keeps the bytes where other nodes reach them. Fault
	// pages do not watch such bytes.
	//
	// Without Relaxed, a resource allows relaxed access on its home's node only, the first one waits for earlier requests,
	// and none begins while a run of one node has the resource for itself. Relaxed access to a resource that has been
	// declared waits for none.
	//
	// No task declares an access to such a resource: its bodies use handles and relaxed access. The nodes then have a fabric
	// (see node.Node), so the program must not make another. The loss of a node breaks all resources that are declared so.
	Relaxed(r *resource.Resource)

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
	// Rounds iterates n times, in the body of a task of Do, or until the run ends if n is negative. In each round the task
	// waits for all its accesses. Then the body of the loop runs. Then Rounds announces each access for the next round and
	// releases it. A body has one such loop.
	Rounds(n int) iter.Seq[int]
}

// Access is an *orwl.Access.
type Access interface {
	Place() *queue.Place // its request
	Resource() *resource.Resource
	Mode() queue.Mode
}

// ErrEarly is a relaxed access or a snapshot on one of several nodes, before they know who keeps what.
var ErrEarly = errors.New("orwl: relaxed access or snapshot before Run, on one of several nodes: make it after Run has begun")

// GoOn has a run go on when other nodes are lost, if its tasks declare no accesses. options are an *orwl.Options.
var GoOn func(options any)

// Of an *orwl.Runtime, an *orwl.Task and an *orwl.Access.
var (
	OfRuntime func(rt any) Runtime
	OfTask    func(task any) Task
	OfAccess  func(access any) Access
)
