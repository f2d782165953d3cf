package p2p

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"time"

	"github.com/libp2p/go-libp2p/core/connmgr"
	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/orwl/go-orwl/net/p2p/internal/lane"
	"github.com/orwl/go-orwl/net/p2p/internal/lease"
	"github.com/orwl/go-orwl/net/p2p/internal/membership"
	"github.com/orwl/go-orwl/net/p2p/internal/transport"
	"github.com/orwl/go-orwl/net/p2p/internal/window"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/wire"
)

// Options say which node this is, where the others are, and how long to wait.
type Options struct {
	// Number is this node's, from 0, and Nodes how many there are. Required.
	Number, Nodes int
	// Incarnation tells the lives of a node apart, and grows; taken from the clock
	// if zero.
	Incarnation uint64
	// Key is the run's secret: all nodes have the same one, and no other process has it. May
	// be missing only if the run stays on the loopback interface, where then every
	// process of this machine can take part.
	Key []byte
	// Listen is the address to listen at; "127.0.0.1:0" if empty.
	Listen string
	// Root is the address of node 0. Required on all other nodes, unless Peers has it.
	Root string
	// Peers are the addresses of all nodes, by number, where others can reach them.
	// If nil, nodes find each other through node 0. A number that does not
	// begin may have none.
	Peers []string
	// Listening, if not nil, is told the address that this node listens at.
	Listening func(address string)

	// Host is this node's libp2p host; one is made if nil. It must have the identity
	// that Identity gives, and should have the Gater, so that strangers are refused before
	// a stream opens; without, their streams are reset. Listen and Carrier are
	// the host's affair then, and Close leaves it open. Its addresses, and those that
	// Root and Peers give, may be multiaddresses: with QUIC, for instance.
	Host Host

	// Begin is how many nodes begin the run, those with the lowest numbers: all of them if zero. The
	// other numbers are free, until processes come late.
	Begin int
	// Late says that this node comes to a run that goes on. Its number is free, or its life before
	// was lost, or has left, and its process has ended. It asks the nodes whose addresses Root and
	// Peers give. Join returns when all members have agreed on it, or after JoinTimeout.
	Late bool

	// Hold has late nodes wait until LetIn is called here and on all other members.
	Hold bool

	past membership.Past // Again passes on what the life before knew

	// Lease is for how long a node is believed to live after it was heard, Skew by
	// how much a clock may be wrong over that time, and Beat how often nodes speak. By
	// default that is 1.5 s, a sixth of the lease but at most 250 ms, and half of the skew.
	// A node is lost after Lease+Skew of silence. So it survives that the network is cut off
	// for less than Lease. All nodes have the same lease and skew.
	Lease, Skew, Beat time.Duration
	// JoinTimeout is how long Join waits for the other nodes; 30 s if zero.
	JoinTimeout time.Duration

	// Carrier is how nodes carry bytes: TCP with TLS if zero. Package quic, beside this
	// one, has another.
	Carrier Carrier

	// Launched says that one launcher has started all nodes, on this machine, and that
	// none of them outlives it. Then a silent node whose process runs is slow and not
	// lost, as long as the nodes share memory. All nodes say the same.
	Launched bool

	// MaxBulk is the size of the largest bulk that is received; wire.MaxBulk if zero.
	MaxBulk int
	// Backlog is how many bytes a lane keeps, at most, for a node that does not
	// take them; 1 GiB if zero.
	Backlog int

	// Machine divides a machine into several, as if each were on its own: nodes share
	// memory only with nodes of its machine that say the same. By default all do.
	Machine string
	// Remote has the node share no memory with any other.
	Remote bool

	// Log is told what goes wrong; nothing is logged if nil.
	Log *slog.Logger
	// Counts are added to, if not nil.
	Counts *Counts
	// Registerer is told of go-libp2p's own metrics, if not nil. They count all
	// nodes of this process.
	Registerer prometheus.Registerer
}

// Host is a libp2p host.
type Host = host.Host

// Carrier is how the nodes of a run carry bytes. All use the same.
type Carrier = transport.Carrier

const (
	mostNodes  = 1 << 16
	leastKey   = 16
	mostName   = 64
	shortLease = 10 * time.Millisecond

	standardLease = 1500 * time.Millisecond
	standardSkew  = 250 * time.Millisecond
)

func (o Options) withDefaults() Options {
	if o.Listen == "" {
		o.Listen = "127.0.0.1:0"
	}
	if o.Root == "" && len(o.Peers) > 0 {
		o.Root = o.Peers[0]
	}
	if o.Begin == 0 {
		o.Begin = o.Nodes
	}
	standard := func(d *time.Duration, is time.Duration) {
		if *d == 0 {
			*d = is
		}
	}
	standard(&o.Lease, standardLease)
	standard(&o.Skew, min(o.Lease/6, standardSkew))
	standard(&o.Beat, min(o.terms().MostBeat(), o.Skew/2))
	standard(&o.JoinTimeout, 30*time.Second)
	if o.MaxBulk == 0 {
		o.MaxBulk = wire.MaxBulk
	}
	if o.Backlog == 0 {
		o.Backlog = 1 << 30
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Counts == nil {
		o.Counts = new(Counts)
	}
	if o.Incarnation == 0 {
		o.Incarnation = uint64(time.Now().UnixNano())
	}
	return o
}

func (o Options) validate() error {
	bad := func(format string, args ...any) error { return fmt.Errorf("p2p: Options."+format, args...) }
	switch {
	case o.Nodes < 1 || o.Nodes > mostNodes:
		return bad("Nodes is %d, want 1 to %d", o.Nodes, mostNodes)
	case o.Number < 0 || o.Number >= o.Nodes:
		return bad("Number is %d, want 0 to %d: nodes count from 0", o.Number, o.Nodes-1)
	case o.Begin < 1 || o.Begin > o.Nodes:
		return bad("Begin is %d, want 1 to %d", o.Begin, o.Nodes)
	case o.Number >= o.Begin && !o.Late:
		return bad("Number is %d, and nodes 0 to %d begin: set Late, which comes later", o.Number, o.Begin-1)
	case o.Key != nil && len(o.Key) < leastKey:
		return bad("Key has %d bytes, want at least %d", len(o.Key), leastKey)
	case o.Peers != nil && len(o.Peers) != o.Nodes:
		return bad("Peers has %d addresses, want one for each of the %d nodes", len(o.Peers), o.Nodes)
	case o.Number > 0 && o.Root == "" && !o.Late:
		return bad("Root is empty, want the address of node 0")
	case o.Lease < shortLease:
		return bad("Lease is %v, want at least %v", o.Lease, shortLease)
	case o.Skew < 0 || o.Skew > o.Lease/2:
		return bad("Skew is %v, want 0 to half of the lease, %v", o.Skew, o.Lease/2)
	case o.Beat <= 0 || o.Beat > o.terms().MostBeat():
		return bad("Beat is %v, want at most half of lease less skew, %v", o.Beat, o.terms().MostBeat())
	case o.JoinTimeout < 0:
		return bad("JoinTimeout is %v, want more than 0", o.JoinTimeout)
	case len(o.Machine) > mostName:
		return bad("Machine has %d bytes, want at most %d", len(o.Machine), mostName)
	case o.MaxBulk < 0 || o.MaxBulk > wire.MaxBulk:
		return bad("MaxBulk is %d, want 1 to %d", o.MaxBulk, wire.MaxBulk)
	case o.Backlog < lane.MostKept:
		return bad("Backlog is %d, want at least %d", o.Backlog, lane.MostKept)
	}
	return o.validateAddresses()
}

func (o Options) validateAddresses() error {
	check := func(field, address string) error {
		if err := transport.CheckAddress(address); err != nil {
			return fmt.Errorf("p2p: Options.%s is %q, want host:port: %w", field, address, err)
		}
		return nil
	}
	if err := check("Listen", o.Listen); err != nil {
		return err
	}
	if o.Number > 0 && (o.Root != "" || !o.Late) {
		if err := check("Root", o.Root); err != nil {
			return err
		}
	}
	for i, address := range o.Peers {
		if address == "" && i >= o.Begin {
			continue
		}
		if err := check(fmt.Sprintf("Peers[%d]", i), address); err != nil {
			return err
		}
	}
	if o.Host == nil && o.Key == nil && !loopback(o.Listen) {
		return fmt.Errorf("%w: Options.Listen is %q: give all nodes the same Key, or listen at 127.0.0.1", ErrNoKey, o.Listen)
	}
	return nil
}

// loopback reports whether an address can be reached from this machine only.
func loopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// terms are the times after which this node lets go, or gives up.
func (o *Options) terms() lease.Terms { return lease.Terms{Lease: o.Lease, Skew: o.Skew} }

// host are what the node's host has to know. Talk is how many frames have come by control
// lanes.
func (o *Options) host(talk func() uint64) transport.Options {
	return transport.Options{
		Number: o.Number, Nodes: o.Nodes, Key: o.Key, Carrier: o.Carrier,
		Hello: helloTimeout, User: o.Host, Registerer: o.Registerer, Talk: talk,
		Stranger: (&strangers{counts: o.Counts, log: o.Log}).note,
	}
}

// Identity is the private key of a node. Only a process with the key of the run can make
// it. A host for Options.Host has it:
//
//	h, err := libp2p.New(
//		libp2p.Identity(p2p.Identity(key, number)),
//		libp2p.ConnectionGater(p2p.Gater(key, number, nodes)),
//		libp2p.ListenAddrStrings("/ip4/127.0.0.1/udp/0/quic-v1"))
func Identity(key []byte, number int) crypto.PrivKey { return transport.Identity(key, number) }

// Gater lets only the other nodes of a run connect to a node.
func Gater(key []byte, number, nodes int) connmgr.ConnectionGater {
	return transport.NewGater(key, number, nodes)
}

// FabricOptions describe a fabric over the nodes of a run. They are the same on all
// of them.
type FabricOptions = window.Options

// Fabric makes this node's part of the fabric, and returns when all nodes have made
// theirs. ctx bounds only that. A node has one fabric at a time.
//
// Operations between nodes of one machine work on memory that these share, and are frames
// between machines. Where no nodes share memory, the fabric is an rma.Exposer. When a node
// with ranks is lost, so is the fabric.
func (n *Node) Fabric(ctx context.Context, o FabricOptions) (rma.Fabric, error) {
	return window.Meet(ctx, site{n}, o)
}

// Machine is the name of the machine that the node is on: nodes whose machines have the same
// name share memory, if their systems let them. It is empty if the node shares none.
func (n *Node) Machine() string { return n.machine }

// machine is the name of this machine. Linux gives it an identifier each time that it is
// started. Containers of one machine have the same, also where they cannot reach each other's
// memory. A name by the user divides the machine further.
func (o *Options) machine() string {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if o.Remote || err != nil {
		return ""
	}
	name := string(bytes.TrimSpace(boot))
	if o.Machine != "" {
		name += " " + o.Machine
	}
	return name
}

// site is the node, as its windows see it.
type site struct{ *Node }

func (s site) Log() *slog.Logger { return s.log }

func (s site) Lane(to int, kind transport.Kind) *lane.Lane { return &s.peer(to).lanes[kind] }

// Operate implements window.Node. Operations that come before are refused: all nodes call
// it, and gather, before any uses a window.
func (s site) Operate(o window.Operations) {
	s.operations.Store(&o)
	s.lanes.Operate(o)
}
