package node

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"sync/atomic"
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
	// ForgetGathered forgets what was gathered under some names, also what is not complete. No node waits for
	// that any more, or gives more under these names.
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

	// Attend says that the caller calls Look again and again until it calls Leave. So other nodes of this machine
	// need not wake this one. Look takes what has come from them, and reports whether something has. Both Look and
	// Leave call receivers.
	Attend()
	Look() bool
	Leave()

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

// Counts are what has happened to the connections of a node. They may be read at any time.
type Counts struct {
	FramesIn atomic.Uint64 // frames read from streams; see Traffic for their kinds
	BytesIn  atomic.Uint64 // bytes read from streams, headers included
	Writes   atomic.Uint64 // writes to streams; one may have many frames
	BytesOut atomic.Uint64 // bytes written, also those written again after a stream broke

	Streams    atomic.Uint64 // streams that were opened or accepted
	Retries    atomic.Uint64 // frames written again after a stream broke
	Resumes    atomic.Uint64 // streams that took the place of a broken one
	Duplicates atomic.Uint64 // frames that came again after a stream broke

	Neighbours     atomic.Uint64 // nodes of this machine that have mapped this one's memory
	Lent, Borrowed atomic.Uint64 // parcels whose bulk the receiver read in the sender's memory

	Strangers atomic.Uint64 // connections from outside the run, or without an identity in time; closed
	Refused   atomic.Uint64 // streams of nodes of the run that may not join, closed
	Malformed atomic.Uint64 // frames that cannot be read, come out of turn, or make no sense; the stream was closed
	Oversize  atomic.Uint64 // frames that claim too much; the stream was closed
	Checksums atomic.Uint64 // frames whose bulk is not what was sent; the stream was closed

	Lost atomic.Uint64 // nodes
	Left atomic.Uint64 // nodes
}

// Match errors by these. Package p2p has more.
var (
	// ErrLeft is the loss of a node that has said that it leaves.
	ErrLeft = errors.New("p2p: node has left the run")
	// ErrAbsent is the loss of a node that never was there: its number is free, until a process comes
	// late.
	ErrAbsent = errors.New("p2p: no node has this number yet")
	// ErrProtocol is something that no correct node sends. A receiver returns it for such a
	// parcel, and the loss of a node that goes on with it matches it.
	ErrProtocol = errors.New("p2p: not in this protocol")
)

// SessionCounts are what the sessions of a server have done. The first three are as of now, and the
// others only grow.
type SessionCounts struct {
	Sessions      int // open sessions
	Held, Waiting int // locks that sessions have, or wait for

	Opened, Expired uint64 // sessions, and those that were silent for their lease
	Granted         uint64 // locks
	Lost            uint64 // locks whose holder was silent for its lease, or has not let go in time
	Forced          uint64 // holders that were told to let go
}

// Network joins a process to the others of its run.
type Network interface {
	// Join returns when all nodes are there.
	Join(ctx context.Context, o Options) (Node, error)
	// Meet gives a process that has no number yet its seat. It returns when all processes have
	// one.
	Meet(ctx context.Context, p Party) (Seat, error)
}

// Options say which node this is, where the others are, and how long to wait. A field that is
// zero has the default of p2p.Options.
type Options struct {
	Number, Nodes int
	Key           []byte
	Listen        string   // host:port
	Root          string   // where node 0 listens
	Peers         []string // where all nodes listen
	// Listening, if not nil, is told where this node listens.
	Listening func(address string)

	// Begin is how many nodes begin, and Late says that this one comes to a run that goes on.
	Begin int
	Late  bool
	// Hold has late nodes wait until Node.LetIn.
	Hold bool

	Lease, Skew, Beat time.Duration
	// Patience is how long Join waits for the other nodes.
	Patience time.Duration

	// Machine divides a machine into several, and Remote has the node share no memory.
	Machine string
	Remote  bool
	// Launched says that one launcher has started all nodes, on this machine.
	Launched bool

	Log *slog.Logger
}

// Party are processes that find each other by their key.
type Party struct {
	Nodes  int
	Key    []byte
	Listen string // host:port, while they meet
	Log    *slog.Logger
}

// Seat is what a process has after it has met the others.
type Seat struct {
	// Number is the number of its node.
	Number int
	// Root is where node 0 listens. It is empty for node 0, which calls Report instead.
	Root   string
	Report func(address string)
	// Close says that this process leaves the run.
	Close func()
}
