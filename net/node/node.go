package node

import (
	"context"
	"io"
	"time"

	"github.com/orwl/go-orwl/net/wire"
)

// Node is this process as one of the nodes of its run.
type Node interface {
	// Number is which node this is, and Nodes how many there are.
	Number() int
	Nodes() int
	// Address is where it listens, as host:port.
	Address() string
	// Machine is the name of its machine, which shares memory; empty if it shares none.
	Machine() string

	// Send sends a parcel. Post does so soon, with what else goes there. Pace waits until not
	// too much is on its way.
	Send(to int, channel uint64, header, bulk []byte, keep bool) error
	Post(to int, channel uint64, header, bulk []byte, keep bool) error
	Pace(ctx context.Context, to int) error
	// Receive sets the receiver of a channel.
	Receive(channel uint64, r Receiver) error
	// Gather returns what each node has said under a name, when all have.
	Gather(ctx context.Context, name string, blob []byte) ([][]byte, error)
	// GatherAmong gathers from some lives only, by number of the node, in a round of the name that is
	// later than those before. Each of them that is still a member gives to the later rounds, too.
	GatherAmong(ctx context.Context, name string, round uint64, among []uint64, blob []byte) ([][]byte, error)
	// ForgetGathered forgets what was gathered under some names. Every node that has given has got
	// it, and gives no more under these names.
	ForgetGathered(over func(name string) bool)

	// OnLoss has f called for each node that is lost or has left. OnSuspect has it called for a
	// node that may have given this one up, and OnApart if this one must not go on.
	OnLoss(f func(peer int, why error))
	OnSuspect(f func(peer int))
	OnApart(f func(why error))
	// Apart is why this node must not go on, or nil.
	Apart() error
	// OnLate has f called for each node that comes late, and the epoch in which it does.
	OnLate(f func(peer int, since uint64))
	// LetIn lets late nodes in, which wait for that if Options.Hold says so.
	LetIn()
	// Incarnation is which life of the node this is, and Since the epoch in which it came in. Again has the process go on as
	// the next one, if this one is apart.
	Incarnation() uint64
	Since() uint64
	Again(ctx context.Context) (Node, error)
	// Lost is why a node is gone, or nil. Suspected says that it is silent.
	Lost(number int) error
	Suspected(number int) bool

	// Memory is where bulk lies that other nodes of this machine may read.
	Memory() Memory

	// Counts, Traffic and OnTrip are for reports.
	Counts() *Counts
	Traffic() Traffic
	OnTrip(f func(nanoseconds int64))

	// Close leaves the run.
	Close(ctx context.Context) error
}

// Receiver takes the parcels of a channel. It is called by several goroutines at a
// time, one for each lane of each node, and must not wait for anything that another
// parcel brings.
type Receiver struct {
	// Take takes a parcel. Header and bulk are valid until it returns. An error says
	// that no correct node sends such a thing: it is counted, and the stream closed.
	Take func(from int, header, bulk []byte) error
	// TakeLent, if not nil, takes a parcel whose bulk lies in memory of the other node,
	// instead of Take, which is given a copy. After a copy, and before
	// any use of it, call valid: if it is false, the other node has given this one up,
	// and the copy may be wrong.
	TakeLent func(from int, header, bulk []byte, valid func() bool) error
	// Swap, if not nil, takes a parcel with much bulk, instead of Take. It may keep the
	// memory of the bulk. Then it returns other, free memory of the same size, or nil.
	// Otherwise it returns bulk.
	Swap func(from int, header, bulk []byte) (other []byte, err error)
}

// Memory is memory for bulk.
type Memory interface {
	// Make returns size bytes, and Free takes them back.
	Make(size int) []byte
	Free(b []byte)
}

// Stream is the connection of a session to a node: a process that has the key of the run, and is
// none of its nodes. Bytes arrive in order, as long as it lives.
type Stream interface {
	io.Reader
	io.Writer
	// SetDeadline ends what Read and Write wait for.
	SetDeadline(t time.Time) error
	// Close ends the connection. The last bytes written may not arrive.
	Close()
}

// Traffic is what went over a node's lanes, by kind of frame.
type Traffic struct {
	// In are the frames that came from streams.
	In [wire.Kinds]Flow
	// Out are those that were to be written, each once; see Counts.BytesOut for how often they
	// were.
	Out [wire.Kinds]Flow
}

// Flow is how much of one kind went one way, headers included.
type Flow struct{ Frames, Bytes uint64 }
