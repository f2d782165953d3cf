package p2p

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/orwl/go-orwl/internal/freeport"
	"github.com/orwl/go-orwl/net/p2p/quic"
)

// start begins to join as node 0 of so many, unhurried, and returns its address and, later, what
// comes of it.
func start(t testing.TB, nodes int, change func(o *Options)) (address string, root <-chan *Node, failed <-chan error) {
	t.Helper()
	listening, joined, errs := make(chan string, 1), make(chan *Node, 1), make(chan error, 1)
	o := Options{Nodes: nodes, Key: testKey, Lease: unhurried, Listening: func(a string) { listening <- a }}
	if change != nil {
		change(&o)
	}
	go func() {
		n, err := Join(soon(t), o)
		if err != nil {
			errs <- err
		} else {
			joined <- n
		}
	}()
	return await(t, listening, "an address"), joined, errs
}

// A process that does not belong gets one clear line, and the others join as if nothing had been.
func TestJoinRefused(t *testing.T) {
	for name, c := range map[string]struct {
		change func(o *Options)
		want   error
		text   string
	}{
		"another key":  {func(o *Options) { o.Key = []byte("not the key of this run") }, ErrStranger, "another key"},
		"no key":       {func(o *Options) { o.Key = nil }, ErrStranger, "another key"},
		"another size": {func(o *Options) { o.Nodes = 7 }, ErrRefused, "its run has 7 nodes, that of node 0 has 2"},
		"another lease": {func(o *Options) { o.Lease = 3 * time.Second }, ErrRefused,
			"its lease is 3s and its skew 250ms, those of node 0 are 1m0s and 250ms: give all the same"},
		"not in it": {func(o *Options) { o.Nodes, o.Number = 7, 6 }, ErrStranger, "another key, or not a node of this run"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address, root, _ := start(t, 2, nil)
			o := Options{Number: 1, Nodes: 2, Key: testKey, Root: address, Lease: unhurried}
			good := o
			c.change(&o)
			err := joinsNot(t, o, c.text)
			if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %q, want one line that matches %v, with %q", err, c.want, c.text)
			}
			other, err := Join(soon(t), good)
			if err != nil {
				t.Fatalf("the right node after that: %v", err)
			}
			closeAll(t, other, await(t, root, "node 0"))
		})
	}
}

// joinsNot is why a node does not join. It gives the node more time until the reason has a text:
// on a machine that has much to do, a node may find out too late why it is alone.
func joinsNot(t *testing.T, o Options, text string) error {
	t.Helper()
	for {
		n, err := Join(soon(t), o)
		if err == nil {
			closeAll(t, n)
			t.Fatal("joined")
		}
		if strings.Contains(err.Error(), text) || o.JoinTimeout == 0 || o.JoinTimeout > patience {
			return err
		}
		o.JoinTimeout *= 4
	}
}

// A second node with a number is refused while the others are still awaited, and when
// all are there; also one that comes back.
func TestJoinTwice(t *testing.T) {
	t.Parallel()
	address, root, _ := start(t, 3, nil)
	o := Options{Number: 1, Nodes: 3, Key: testKey, Root: address, Lease: unhurried}
	refused := func(text string) {
		t.Helper()
		n, err := Join(soon(t), o)
		if err == nil {
			closeAll(t, n)
			t.Fatal("joined")
		}
		if !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), text) {
			t.Errorf("error %q, want ErrRefused with %q", err, text)
		}
	}
	first := make(chan *Node, 1)
	listening := make(chan string, 1)
	counts := new(Counts)
	go func() {
		o := o
		o.Listening, o.Counts = func(a string) { listening <- a }, counts
		n, err := Join(soon(t), o)
		if err != nil {
			t.Error(err)
		}
		first <- n
	}()
	at := await(t, listening, "an address")
	greeted(t, counts)
	refused("number 1 is in use, by the node at " + at)
	o.Number = 2
	last, err := Join(soon(t), o)
	if err != nil {
		t.Fatal(err)
	}
	o.Number = 1
	refused("all 3 nodes that begin are there")
	node := await(t, root, "node 0")
	gone := make(chan error, 1)
	node.OnLoss(func(_ int, why error) { gone <- why })
	closeAll(t, last)
	await(t, gone, "the loss")
	o.Number = 2
	refused("node 2 is gone from this run, and cannot come back")
	closeAll(t, node, await(t, first, "node 1"))
}

// A run that is never complete: node 0 names the missing nodes, and those who came hear it.
func TestJoinMissing(t *testing.T) {
	ctx, enough := context.WithCancelCause(soon(t))
	listening, counts := make(chan string, 1), new(Counts)
	both := make(chan error, 2)
	go func() {
		_, err := Join(ctx, Options{Nodes: 4, Key: testKey, Lease: unhurried, Listening: func(a string) { listening <- a }})
		both <- err
	}()
	o := Options{Number: 2, Nodes: 4, Key: testKey, Root: await(t, listening, "an address"), Lease: unhurried, Counts: counts}
	go func() {
		_, err := Join(soon(t), o)
		both <- err
	}()
	greeted(t, counts)
	enough(errors.New("enough"))
	for range 2 {
		err := await(t, both, "an error")
		var missing *MissingError
		switch {
		case errors.As(err, &missing):
			if len(missing.Missing) != 2 || missing.Missing[0] != 1 || missing.Missing[1] != 3 || !strings.Contains(err.Error(), "enough") {
				t.Errorf("node 0: %v, want 1 and 3 missing, and why no more", err)
			}
		case !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), "called off") || !strings.Contains(err.Error(), ": 1 3"):
			t.Errorf("node 2: %v, want ErrRefused with who is missing", err)
		}
	}
}

// greeted waits until a node that is joining has heard of node 0.
func greeted(t *testing.T, c *Counts) {
	for c.FramesIn.Load() == 0 {
		await(t, time.After(time.Millisecond), "time")
	}
}

func TestJoinNobody(t *testing.T) {
	t.Parallel()
	o := Options{Number: 1, Nodes: 2, Key: testKey, Root: "127.0.0.1:1", JoinTimeout: 100 * time.Millisecond}
	if err := joinsNot(t, o, "refused"); !errors.Is(err, ErrMissing) || !strings.Contains(err.Error(), "refused") {
		t.Errorf("without node 0: %v, want ErrMissing and why", err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("enough"))
	if _, err := Join(ctx, Options{Number: 1, Nodes: 2, Key: testKey, Root: "127.0.0.1:1"}); err == nil || !strings.Contains(err.Error(), "enough") {
		t.Errorf("with a context that is done: %v, want its cause", err)
	}
}

// The order of joining does not matter: node 0 may be the last.
func TestJoinBeforeNode0(t *testing.T) {
	free := freeport.Address(t)
	o := Options{Number: 1, Nodes: 2, Key: testKey, Root: free, Lease: unhurried}
	var both sync.WaitGroup
	both.Go(func() {
		n, err := Join(soon(t), o)
		if err != nil {
			t.Error(err)
			return
		}
		closeAll(t, n)
	})
	n, err := Join(soon(t), Options{Nodes: 2, Key: testKey, Listen: free, Lease: unhurried})
	if err != nil {
		t.Fatal(err)
	}
	closeAll(t, n)
	both.Wait()
}

func TestJoinByAddresses(t *testing.T) {
	peers := freeport.Addresses(t, 3)
	nodes := run(t, 3, func(o *Options) { o.Listen, o.Peers, o.Root = peers[o.Number], peers, "" })
	got := make(chan int, 1)
	receive(t, nodes[2], func(from int, _, _ []byte) error { got <- from; return nil })
	if err := nodes[1].Send(2, 1, nil, nil, false); err != nil {
		t.Fatal(err)
	}
	if from := await(t, got, "a parcel"); from != 1 {
		t.Errorf("came from node %d, want 1", from)
	}
}

// Every way to carry bytes works.
func TestCarriers(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(o *Options){
		"tls":           func(o *Options) {},
		"quic":          func(o *Options) { o.Carrier = quic.Carrier },
		"without a key": func(o *Options) { o.Key = nil },
	} {
		t.Run(name, func(t *testing.T) {
			nodes := run(t, 2, change)
			got := make(chan int, 2)
			receive(t, nodes[1], func(_ int, _, bulk []byte) error { got <- len(bulk); return nil })
			for _, size := range []int{1, 1 << 20} {
				if err := nodes[0].Send(1, 1, nil, make([]byte, size), true); err != nil {
					t.Fatal(err)
				}
				if n := await(t, got, "a parcel"); n != size {
					t.Errorf("%d bytes came, want %d", n, size)
				}
			}
		})
	}
}

func TestOptions(t *testing.T) {
	good := Options{Number: 1, Nodes: 2, Root: "127.0.0.1:1"}
	for _, lease := range []time.Duration{0, shortLease, time.Second, time.Hour} { // skew and beat follow it
		o := good
		o.Lease = lease
		if err := o.withDefaults().validate(); err != nil {
			t.Errorf("a lease of %v: %v", lease, err)
		}
	}
	for _, c := range []struct {
		change func(o *Options)
		text   string
	}{
		{func(o *Options) { o.Nodes = 0 }, "Nodes is 0, want 1"},
		{func(o *Options) { o.Number = 2 }, "Number is 2, want 0 to 1"},
		{func(o *Options) { o.Key = []byte("short") }, "Key has 5 bytes, want at least 16"},
		{func(o *Options) { o.Root = "" }, "Root is empty"},
		{func(o *Options) { o.Root = "nowhere" }, "Root is \"nowhere\", want host:port"},
		{func(o *Options) { o.Peers = []string{"127.0.0.1:1"} }, "Peers has 1 addresses"},
		{func(o *Options) { o.Peers = []string{"127.0.0.1:1", "x"} }, "Peers[1] is \"x\""},
		{func(o *Options) { o.Lease = time.Millisecond }, "Lease is 1ms"},
		{func(o *Options) { o.Skew = time.Second }, "Skew is 1s, want 0 to half"},
		{func(o *Options) { o.Beat = time.Second }, "Beat is 1s, want at most"},
		{func(o *Options) { o.JoinTimeout = -1 }, "JoinTimeout is -1ns"},
		{func(o *Options) { o.MaxBulk = -1 }, "MaxBulk is -1"},
		{func(o *Options) { o.Backlog = 1 }, "Backlog is 1"},
	} {
		o := good
		c.change(&o)
		if _, err := Join(t.Context(), o); err == nil || !strings.Contains(err.Error(), "p2p: Options.") || !strings.Contains(err.Error(), c.text) {
			t.Errorf("error %v, want %q", err, c.text)
		}
	}
	for _, listen := range []string{"0.0.0.0:0", ":0", "192.0.2.1:7717", "example.org:1"} {
		o := good
		o.Listen = listen
		if _, err := Join(t.Context(), o); !errors.Is(err, ErrNoKey) {
			t.Errorf("listening at %s without a key: %v, want ErrNoKey", listen, err)
		}
	}
}

// A node that cannot listen says why, and what to do.
func TestListenAdvice(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for listen, want := range map[string]string{
		taken.Addr().String(): "p2p: listening at " + taken.Addr().String() + ": another process listens there: end it, or choose another port",
		"192.0.2.1:7717":      "p2p: listening at 192.0.2.1:7717: this machine has no such address: choose one that it has, or 0.0.0.0",
		"127.0.0.1:99999":     `p2p: address "127.0.0.1:99999": the port is no number up to 65535: listen at an address of this machine, such as 127.0.0.1:0`,
	} {
		_, err := Join(t.Context(), Options{Nodes: 1, Key: testKey, Listen: listen})
		if err == nil || !strings.Contains(err.Error(), want) || errors.Is(err, ErrTaken) != (listen == taken.Addr().String()) {
			t.Errorf("listening at %s: %v, want %q", listen, err, want)
		}
	}
}

// TestFreeNumbers has one node of three begin, and the others come, the second before the first. All
// gather then, and parcels arrive in each direction.
func TestFreeNumbers(t *testing.T) {
	t.Parallel()
	o := Options{Nodes: 3, Begin: 1, Key: testKey, Lease: unhurried, Remote: true}
	first, err := Join(soon(t), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeAll(t, first) })
	absent, came := make(chan struct{}, 2), make(chan struct{}, 2)
	first.OnLoss(func(_ int, why error) {
		if errors.Is(why, ErrAbsent) {
			absent <- struct{}{}
		}
	})
	first.OnLate(func(int, uint64) { came <- struct{}{} })
	for range 2 {
		await(t, absent, "word of a free number")
	}
	blobs, err := first.Gather(soon(t), "alone", []byte{7})
	if want := [][]byte{{7}, nil, nil}; err != nil || !slices.EqualFunc(blobs, want, slices.Equal) {
		t.Errorf("alone: %v, %v, want %v", blobs, err, want)
	}
	nodes := []*Node{first, nil, nil}
	for _, number := range []int{2, 1} {
		o := o
		o.Number, o.Late, o.Root = number, true, first.Address()
		n, err := Join(soon(t), o)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { closeAll(t, n) })
		await(t, came, fmt.Sprint("node ", number))
		if number == 2 && !errors.Is(n.Lost(1), ErrAbsent) {
			t.Errorf("node 2 takes node 1 for %v, want ErrAbsent", n.Lost(1))
		}
		nodes[number] = n
	}
	gatherTwice(t, nodes)
	sendAll(t, nodes, 1)
	if lost := first.Counts().Lost.Load(); lost != 0 {
		t.Errorf("%d nodes were lost, want 0", lost)
	}
	closeAll(t, nodes...)
}

// A node that does not say that it is late is told so, in the words of the option.
func TestNumberThatDoesNotBegin(t *testing.T) {
	o := Options{Nodes: 2, Begin: 1, Key: testKey, Remote: true}
	first, err := Join(soon(t), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeAll(t, first) })
	o.Number, o.Root = 1, first.Address()
	if _, err = Join(soon(t), o); err == nil || !strings.Contains(err.Error(), "Number is 1, and nodes 0 to 0 begin") {
		t.Errorf("late without Late: %v", err)
	}
	o.Begin, o.JoinTimeout = 2, time.Minute
	if _, err = Join(soon(t), o); !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), "give all nodes the same Options.Begin") {
		t.Errorf("another Begin: %v", err)
	}
}
