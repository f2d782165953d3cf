package p2p

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	corepeer "github.com/libp2p/go-libp2p/core/peer"

	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/net/p2p/internal/control"
	"github.com/orwl/go-orwl/net/p2p/internal/transport"
	"github.com/orwl/go-orwl/net/p2p/p2ptest"
	"github.com/orwl/go-orwl/net/p2p/quic"
	"github.com/orwl/go-orwl/net/wire"
)

// mallory has the identity of node 2 of 3, and does with it what she likes.
type mallory struct {
	t       *testing.T
	host    *transport.Host
	address string // of node 0
	life    uint64
	counts  *Counts          // of node 0
	nodes   []*Node          // 0 and 1
	first   transport.Stream // by which she joined
	took    atomic.Int64
}

// form is what the nodes stand on that mallory attacks, and what she dials by.
type form struct {
	listen  string  // of hosts that users have made; hosts of our own if empty
	carrier Carrier // of mallory, and of hosts of our own
}

// eachForm attacks nodes on hosts of our own, and nodes on hosts of users.
func eachForm(t *testing.T, attack func(t *testing.T, on form)) {
	t.Run("own", func(t *testing.T) { attack(t, form{}) })
	usersForms(t, attack)
}

// usersForms attacks a node on the hosts of users only.
func usersForms(t *testing.T, attack func(t *testing.T, on form)) {
	for name, on := range map[string]form{
		"a user's": {listen: p2ptest.TCP}, "a user's by QUIC": {p2ptest.QUIC, quic.Carrier},
	} {
		t.Run(name, func(t *testing.T) { attack(t, on) })
	}
}

// options has a node stand on a host of the form.
func (f form) options(t testing.TB, o *Options) {
	o.Carrier = f.carrier
	if f.listen != "" {
		o.Host = userHost(t, o.Number, o.Nodes, f.listen)
	}
}

// hostOf is a host that does not listen, until the test ends.
func hostOf(t *testing.T, o Options) *transport.Host {
	t.Helper()
	h, err := transport.New(o.host(func() uint64 { return 0 }))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	return h
}

// newMallory lets her join, so that the run is complete.
func newMallory(t *testing.T, on form) *mallory {
	t.Helper()
	m := &mallory{t: t, life: 7, counts: new(Counts)}
	address, root, _ := start(t, 3, func(o *Options) {
		o.Counts, o.Lease = m.counts, unhurried
		on.options(t, o)
	})
	m.address = address
	o := Options{Number: 2, Nodes: 3, Key: testKey, Counts: new(Counts), Carrier: on.carrier}.withDefaults()
	m.host = hostOf(t, o)
	var joins error
	joined := make(chan *Node, 1)
	one := Options{Number: 1, Nodes: 3, Key: testKey, Root: address, Lease: unhurried}
	on.options(t, &one)
	go func() {
		var n *Node
		n, joins = Join(soon(t), one)
		joined <- n
	}()
	m.first = m.open(transport.Control, 0)
	m.nodes = []*Node{await(t, root, "node 0"), await(t, joined, "node 1")}
	if joins != nil {
		t.Fatal(joins)
	}
	t.Cleanup(func() {
		// She never says goodbye.
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		for _, n := range m.nodes {
			n.Close(ctx)
		}
	})
	for _, n := range m.nodes {
		receive(t, n, func(from int, header, bulk []byte) error {
			if from == 2 {
				m.took.Add(1)
			}
			return nil
		})
	}
	return m
}

// connect opens a connection to node 0, and a stream.
func (m *mallory) connect(kind transport.Kind) *transport.Conn {
	m.t.Helper()
	conn, err := m.host.Dial(m.t.Context(), 0, m.address, kind)
	if err != nil {
		m.t.Fatal(err)
	}
	m.t.Cleanup(func() { conn.Close() })
	conn.SetDeadline(time.Now().Add(patience))
	return conn
}

func (m *mallory) hello(kind transport.Kind, received uint64) wire.Hello {
	return wire.Hello{Version: wire.Version, Nodes: 3, Node: 2, Incarnation: m.life,
		Lane: uint64(kind), Received: received, Lease: uint64(unhurried), Skew: uint64(standardSkew), Address: "127.0.0.1:1"}
}

// open opens a stream as a correct node does.
func (m *mallory) open(kind transport.Kind, received uint64) transport.Stream {
	m.t.Helper()
	return m.greet(kind, m.hello(kind, received))
}

func (m *mallory) greet(kind transport.Kind, hello wire.Hello) transport.Stream {
	m.t.Helper()
	raw := m.connect(kind)
	m.write(raw, hello.Append(nil))
	in := wire.NewInput(raw, wire.MaxBulk)
	if head, _, err := in.Next(); err != nil || head.Kind != wire.KindHello {
		m.t.Fatalf("%v, %v instead of a hello", head.Kind, err)
	}
	return raw
}

func (m *mallory) write(raw transport.Stream, b []byte) {
	if _, err := raw.Write(b); err != nil {
		m.t.Log("write:", err) // it may be closed by now
	}
}

// closed waits until node 0 has closed a stream.
func (m *mallory) closed(raw transport.Stream) {
	m.t.Helper()
	nothing := make([]byte, 1<<10)
	for {
		if _, err := raw.Read(nothing); err != nil {
			if strings.Contains(err.Error(), "deadline") || strings.Contains(err.Error(), "timeout") {
				m.t.Fatal("node 0 does not close the stream")
			}
			return
		}
	}
}

// undisturbed checks that nodes 0 and 1 work on.
func (m *mallory) undisturbed() {
	m.t.Helper()
	if err := m.nodes[0].Lost(1); err != nil {
		m.t.Errorf("node 0 has lost node 1: %v", err)
	}
	got := make(chan struct{}, 1)
	const channel = 2
	if err := m.nodes[1].Receive(channel, Receiver{Take: func(int, []byte, []byte) error { got <- struct{}{}; return nil }}); err != nil {
		m.t.Fatal(err)
	}
	if err := m.nodes[0].Send(1, channel, nil, nil, false); err != nil {
		m.t.Fatal(err)
	}
	await(m.t, got, "a parcel between the others")
}

func parcel(number uint64, bulk []byte) []byte {
	f := wire.Parcel{Channel: 1, Header: []byte("header")}
	h := wire.Head{Number: number, Bulk: len(bulk)}
	return wire.AppendBulk(f.Append(nil, h), bulk)
}

func operation(kind wire.Kind, number uint64) []byte {
	return (&wire.Operation{}).Append(nil, wire.Head{Kind: kind, Number: number})
}

// own is a parcel to the nodes themselves.
func own(number uint64, m control.Message) []byte {
	f := wire.Parcel{Channel: ownChannel, Header: m.Bytes()}
	return f.Append(nil, wire.Head{Number: number})
}

// Whatever comes on a stream, it is closed and counted; nothing is taken, and the
// others do not notice.
func TestHostileFrames(t *testing.T) {
	t.Parallel()
	attackByFrames(t, form{})
}

// TestHostileFramesOfUsers is the same on hosts of users.
func TestHostileFramesOfUsers(t *testing.T) {
	rings.Needs(t, rings.Change)
	t.Parallel()
	usersForms(t, attackByFrames)
}

func attackByFrames(t *testing.T, on form) {
	wrongSum := parcel(1, []byte("bulk"))
	wrongSum[len(wrongSum)-1] ^= 1
	claim := func(bulk uint64) []byte {
		f := wire.Parcel{Channel: 1}
		return f.Append(nil, wire.Head{Number: 1, Bulk: int(bulk)})
	}
	noise := make([]byte, 1<<16)
	rand.NewChaCha8([32]byte{1}).Read(noise)
	malformed := func(c *Counts) *atomic.Uint64 { return &c.Malformed }
	oversize := func(c *Counts) *atomic.Uint64 { return &c.Oversize }
	for name, c := range map[string]struct {
		lane  transport.Kind
		bytes []byte
		count func(c *Counts) *atomic.Uint64
	}{
		"noise":                   {transport.Control, noise, oversize},
		"zeros":                   {transport.Control, make([]byte, 100), malformed},
		"header of 4 GiB":         {transport.Control, binary.LittleEndian.AppendUint32(nil, 1<<32-1), oversize},
		"bulk too large":          {transport.Data, claim(wire.MaxBulk + 1), oversize},
		"wrong checksum":          {transport.Data, wrongSum, func(c *Counts) *atomic.Uint64 { return &c.Checksums }},
		"frames missing":          {transport.Control, parcel(5, nil), malformed},
		"hello again":             {transport.Control, func() []byte { h := wire.Hello{Node: 2}; return h.Append(nil) }(), malformed},
		"ack of nothing":          {transport.Control, (&wire.Ack{Number: 1000}).Append(nil), malformed},
		"beat on the data lane":   {transport.Data, (&wire.Beat{Sent: 1}).Append(nil), malformed},
		"echo of the future":      {transport.Control, (&wire.Beat{Sent: 1, Echo: 1 << 62}).Append(nil), malformed},
		"operation for no window": {transport.Control, operation(wire.KindFetchOp, 1), malformed},
		"members":                 {transport.Control, own(1, control.Message{Change: &control.Change{Epoch: 3}}), malformed},
		"gathered":                {transport.Control, own(1, control.Message{Gathered: &control.Gathering{Name: "x", Round: 1}}), malformed},
		"two messages in one":     {transport.Control, own(1, control.Message{Mapped: &control.Mapped{}, Give: &control.Gathering{}}), malformed},
		"no word of the nodes":    {transport.Control, own(1, control.Message{}), malformed},
		"bye with a word":         {transport.Control, []byte{6, 0, 0, 0, 0x95, byte(wire.KindBye), 1, 0, 0, 7}, malformed},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMallory(t, on)
			raw := m.open(c.lane, 0)
			m.write(raw, c.bytes)
			m.closed(raw)
			if got := c.count(m.counts).Load(); got != 1 {
				t.Errorf("counted %d times, want once", got)
			}
			if n := m.took.Load(); n > 0 {
				t.Errorf("%d parcels were taken", n)
			}
			m.undisturbed()
		})
	}
}

// A frame that comes again is known, on the same stream and on another.
func TestReplay(t *testing.T) {
	t.Parallel()
	eachForm(t, attackByReplay)
}

func attackByReplay(t *testing.T, on form) {
	m := newMallory(t, on)
	frames := append(parcel(1, nil), parcel(2, make([]byte, 1000))...)
	for range 3 {
		raw := m.open(transport.Data, 0)
		for range 3 {
			m.write(raw, frames)
		}
		m.write(raw, parcel(9, nil)) // ends it
		m.closed(raw)
	}
	if n := m.took.Load(); n != 2 {
		t.Errorf("%d parcels were taken, want 2", n)
	}
	if n := m.counts.Duplicates.Load(); n != 2*3*3-2 {
		t.Errorf("%d duplicates counted, want %d", n, 2*3*3-2)
	}
	m.undisturbed()
}

// A node that says a wrong hello gets no stream.
func TestHostileHello(t *testing.T) {
	t.Parallel()
	attackByHello(t, form{})
}

// TestHostileHelloOfUsers is the same on hosts of users.
func TestHostileHelloOfUsers(t *testing.T) {
	rings.Needs(t, rings.Change)
	t.Parallel()
	usersForms(t, attackByHello)
}

func attackByHello(t *testing.T, on form) {
	for name, c := range map[string]struct {
		first  func(h wire.Hello) []byte
		reason string // the reason that she is told
		count  func(c *Counts) *atomic.Uint64
	}{
		"a parcel":        {func(wire.Hello) []byte { return parcel(1, nil) }, "", func(c *Counts) *atomic.Uint64 { return &c.Malformed }},
		"noise":           {func(wire.Hello) []byte { return []byte("GET / HTTP/1.1\r\n\r\n") }, "", func(c *Counts) *atomic.Uint64 { return &c.Oversize }},
		"another version": {func(h wire.Hello) []byte { h.Version++; return h.Append(nil) }, fmt.Sprintf("it speaks version %d, node 0 speaks %d", wire.Version+1, wire.Version), nil},
		"another lease":   {func(h wire.Hello) []byte { h.Lease++; return h.Append(nil) }, "give all the same", nil},
		"another skew":    {func(h wire.Hello) []byte { h.Skew--; return h.Append(nil) }, "give all the same", nil},
		"another node":    {func(h wire.Hello) []byte { h.Node = 1; return h.Append(nil) }, "its identity is that of node 2", nil},
		"another lane":    {func(h wire.Hello) []byte { h.Lane = 1; return h.Append(nil) }, "lane 1", nil},
		"no life":         {func(h wire.Hello) []byte { h.Incarnation = 0; return h.Append(nil) }, "no incarnation", nil},
		"another life":    {func(h wire.Hello) []byte { h.Incarnation++; return h.Append(nil) }, "all 3 nodes that begin are there", nil},
		"to another life": {func(h wire.Hello) []byte { h.Peer = 1; return h.Append(nil) }, "another life", nil},
		"too much is taken": {func(h wire.Hello) []byte { h.Received = 1000; return h.Append(nil) }, "",
			func(c *Counts) *atomic.Uint64 { return &c.Malformed }},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMallory(t, on)
			if c.reason != "" {
				c.count = func(c *Counts) *atomic.Uint64 { return &c.Refused }
			}
			raw := m.connect(transport.Control)
			m.write(raw, c.first(m.hello(transport.Control, 0)))
			in := wire.NewInput(raw, wire.MaxBulk)
			head, body, err := in.Next()
			var f wire.Refuse
			if err == nil {
				err = f.Parse(body)
			}
			if c.reason != "" && (err != nil || head.Kind != wire.KindRefuse || !strings.Contains(f.Reason, c.reason)) {
				t.Errorf("got %v %q, %v, want refuse: %s", head.Kind, f.Reason, err, c.reason)
			}
			if c.reason == "" && err == nil {
				t.Errorf("got %v, want nothing", head.Kind)
			}
			if n := c.count(m.counts).Load(); n != 1 {
				t.Errorf("counted %d times, want once", n)
			}
			m.undisturbed()
		})
	}
}

// A claim costs nothing: memory follows the bytes that have come.
func TestHostileClaimsCostNothing(t *testing.T) { eachForm(t, attackByClaims) }

func attackByClaims(t *testing.T, on form) {
	m := newMallory(t, on)
	f := wire.Parcel{Channel: 1}
	frame := f.Append(nil, wire.Head{Number: 1, Bulk: wire.MaxBulk})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	const streams = 5 // libp2p lets a peer have 8 connections
	for range streams {
		raw := m.open(transport.Data, 0)
		m.write(raw, append(frame, make([]byte, 1000)...))
	}
	raw := m.open(transport.Data, 0)
	m.write(raw, parcel(1, nil)) // the streams before are over
	for m.took.Load() == 0 {
		await(t, time.After(time.Millisecond), "time")
	}
	runtime.ReadMemStats(&after)
	if grown := after.TotalAlloc - before.TotalAlloc; grown > streams*8<<20 {
		t.Errorf("%d MiB were allocated for %d streams with 1000 bytes each", grown>>20, streams)
	}
	m.undisturbed()
}

// A node can have so many connections, and no more, before it says hello.
func TestHostileConnections(t *testing.T) {
	t.Parallel()
	eachForm(t, attackByConnections)
}

func attackByConnections(t *testing.T, on form) {
	m := newMallory(t, on)
	closed := make(chan struct{}, 3*mostPending)
	for range cap(closed) {
		conn, err := m.host.Dial(t.Context(), 0, m.address, transport.Control)
		if err != nil {
			closed <- struct{}{}
			continue
		}
		t.Cleanup(conn.Close)
		go func() {
			conn.Read(make([]byte, 1))
			closed <- struct{}{}
		}()
	}
	for range 2 * mostPending {
		await(t, closed, "the end of a connection")
	}
	m.undisturbed()
}

// A process without the key of the run can connect, on its own side, and gets no stream.
func TestStranger(t *testing.T) {
	t.Parallel()
	eachForm(t, attackAsStranger)
}

func attackAsStranger(t *testing.T, on form) {
	m := newMallory(t, on)
	stranger := newHost(t, p2ptest.HostOptions{})
	at := m.nodes[0].host // its name is no secret
	var s network.Stream
	var err error
	if err = stranger.Connect(soon(t), corepeer.AddrInfo{ID: at.ID(), Addrs: at.Addrs()}); err == nil {
		s, err = stranger.NewStream(network.WithNoDial(soon(t), "it is connected"), at.ID(), "/orwl/control/1")
	}
	if err == nil {
		hello := m.hello(transport.Control, 0)
		m.write(s, hello.Append(nil))
		m.closed(s)
	}
	for on.listen == "" && m.counts.Strangers.Load() == 0 { // the gater of a user counts nothing
		await(t, time.After(time.Millisecond), "time")
	}
	if n := m.counts.Strangers.Load(); n > 1 {
		t.Errorf("%d strangers counted, want 1", n)
	}
	if n := m.counts.Malformed.Load() + m.counts.Refused.Load(); n > 0 {
		t.Errorf("a stranger was heard")
	}
	m.undisturbed()
}

// The last to come has a stream before the nodes are told that all are there. This one
// cannot be dialled: if node 0 tried that, it would not take the stream.
func TestLastIsNotDialled(t *testing.T) {
	t.Parallel()
	o := Options{Number: 1, Nodes: 2, Key: testKey, Counts: new(Counts)}.withDefaults()
	host := hostOf(t, o)
	for range 20 {
		address, root, _ := start(t, 2, func(o *Options) { o.Lease = unhurried })
		m := &mallory{t: t, host: host, address: address}
		hello := wire.Hello{Version: wire.Version, Nodes: 2, Node: 1, Incarnation: 7,
			Lease: uint64(unhurried), Skew: uint64(standardSkew), Address: "127.0.0.1:1"}
		m.greet(transport.Control, hello)
		n := await(t, root, "node 0")
		if err := n.Lost(1); err != nil {
			t.Error(err)
		}
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		n.Close(gone)
	}
}
