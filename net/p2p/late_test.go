package p2p

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/net/p2p/internal/membership"
)

// seen is what the observers of a node are told of another one, in order.
type seen struct {
	mu   sync.Mutex
	what []string
	back chan struct{}
}

func watch(n *Node) *seen {
	s := &seen{back: make(chan struct{}, 8)}
	note := func(format string, args ...any) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.what = append(s.what, fmt.Sprintf(format, args...))
	}
	n.OnLoss(func(peer int, why error) { note("%d is gone, left: %t", peer, errors.Is(why, ErrLeft)) })
	n.OnLate(func(peer int, _ uint64) {
		note("%d is back", peer)
		s.back <- struct{}{}
	})
	return s
}

// TestComesBack has each node of three end, or leave, and come back twice. All gather before and after
// with the same rounds, and parcels arrive in each direction.
func TestComesBack(t *testing.T) {
	t.Parallel()
	for gone, leaves := range []bool{false, true, false} {
		t.Run(fmt.Sprint(gone, leaves), func(t *testing.T) { comesBack(t, gone, leaves) })
	}
}

func comesBack(t *testing.T, gone int, leaves bool) {
	nodes := run(t, 3, nil)
	gatherTwice(t, nodes)
	others := slices.Delete(slices.Clone(nodes), gone, gone+1)
	watchers := []*seen{watch(others[0]), watch(others[1])}
	for k := range 2 {
		old := nodes[gone]
		if leaves {
			if err := old.Close(soon(t)); err != nil {
				t.Fatal(err)
			}
		} else {
			old.shut()
		}
		began := time.Now()
		o := Options{Number: gone, Nodes: 3, Key: testKey, Late: true, Lease: unhurried, Remote: true}
		for _, n := range nodes {
			o.Peers = append(o.Peers, n.Address())
		}
		o.Listen = old.Address()
		n, err := Join(soon(t), o)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("node %d is back in epoch %d after %v", gone, n.Since(), time.Since(began).Round(time.Millisecond))
		t.Cleanup(func() { closeAll(t, n) })
		nodes[gone] = n
		for _, w := range watchers {
			await(t, w.back, "the node")
		}
		gatherTwice(t, nodes)
		sendAll(t, nodes, uint64(1+k))
	}
	for i, w := range watchers {
		lost := fmt.Sprintf("%d is gone, left: %t", gone, leaves)
		back := fmt.Sprintf("%d is back", gone)
		if want := []string{lost, back, lost, back}; !slices.Equal(w.what, want) {
			t.Errorf("node %d has seen %q, want %q", others[i].Number(), w.what, want)
		}
	}
	closeAll(t, nodes...)
}

// gatherTwice has all nodes gather twice under one name.
func gatherTwice(t *testing.T, nodes []*Node) {
	t.Helper()
	var all sync.WaitGroup
	for _, n := range nodes {
		all.Go(func() {
			for range 2 {
				blobs, err := n.Gather(soon(t), "all", []byte{byte(n.Number())})
				if want := [][]byte{{0}, {1}, {2}}; err != nil || !slices.EqualFunc(blobs, want, slices.Equal) {
					t.Errorf("node %d: %v, %v, want %v", n.Number(), blobs, err, want)
				}
			}
		})
	}
	all.Wait()
}

// sendAll sends a small and a large parcel from each node to each one, on a channel that is new.
func sendAll(t *testing.T, nodes []*Node, channel uint64) {
	t.Helper()
	var came sync.WaitGroup
	for _, n := range nodes {
		took := func(int, []byte, []byte) error { came.Done(); return nil }
		if err := n.Receive(channel, Receiver{Take: took}); err != nil {
			t.Fatal(err)
		}
	}
	for _, n := range nodes {
		for to := range nodes {
			for _, size := range []int{8, 1 << 16} {
				came.Add(1)
				if err := n.Send(to, channel, nil, make([]byte, size), false); err != nil {
					t.Errorf("node %d to node %d: %v", n.Number(), to, err)
					came.Done()
				}
			}
		}
	}
	came.Wait()
}

// refusalLog is a log that calls second when the second refusal is written. A handler writes one line at
// a time.
type refusalLog struct {
	came   int
	second func()
}

// Write implements io.Writer.
func (r *refusalLog) Write(line []byte) (int, error) {
	if bytes.Contains(line, []byte("node is not let in")) {
		if r.came++; r.came == 2 {
			r.second()
		}
	}
	return len(line), nil
}

// A node that comes back while its life before is there is told so, and asks again. One
// that knows no address is told so.
func TestComesBackTooEarly(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	notes := new(refusalLog)
	notes.second = cancel // it has read the first
	nodes := run(t, 2, func(o *Options) {
		if o.Number == 0 {
			o.Log = slog.New(slog.NewTextHandler(notes, &slog.HandlerOptions{Level: slog.LevelDebug}))
		}
	})
	o := Options{Number: 1, Nodes: 2, Key: testKey, Late: true, Root: nodes[0].Address(), Lease: unhurried, Remote: true}
	_, err := Join(ctx, o)
	if !errors.Is(err, ErrRefused) {
		t.Errorf("%v, want that its life before is still there", err)
	}
	o.Number, o.Root = 0, ""
	if _, err := Join(t.Context(), o); err == nil {
		t.Error("it knows no address, and joins")
	}
	gatherTwo := func(n *Node) {
		if _, err := n.Gather(soon(t), "all", nil); err != nil {
			t.Error(err)
		}
	}
	var all sync.WaitGroup
	for _, n := range nodes {
		all.Go(func() { gatherTwo(n) })
	}
	all.Wait()
}

// TestComesBackBesideASilentOne stops node 0 of four. The others go on, and node 3 comes back to them while
// node 0 may think that it is the only one left. When it goes on, it is apart.
func TestComesBackBesideASilentOne(t *testing.T) {
	rings.Silence(t)
	t.Parallel()
	root, nodes := runUnder(t, 3, hurried)
	gatherAll := func() {
		t.Helper()
		var all sync.WaitGroup
		for _, n := range nodes {
			all.Go(func() {
				blobs, err := n.Gather(soon(t), "all", []byte{byte(n.Number())})
				if want := [][]byte{nil, {1}, {2}, {3}}; err != nil || !slices.EqualFunc(blobs, want, slices.Equal) {
					t.Errorf("node %d: %v, %v, want %v", n.Number(), blobs, err, want)
				}
			})
		}
		all.Wait()
	}
	root.Process.Signal(syscall.SIGSTOP)
	gatherAll()
	if err := nodes[2].Close(soon(t)); err != nil {
		t.Fatal(err)
	}
	o := Options{Number: 3, Nodes: 4, Key: testKey, Late: true, Remote: true, Lease: hurried, Listen: nodes[2].Address(), JoinTimeout: patience}
	o.Peers = []string{nodes[0].Where(0), nodes[0].Address(), nodes[1].Address(), nodes[2].Address()}
	n, err := Join(soon(t), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeAll(t, n) })
	nodes[2] = n
	gatherAll()
	root.Process.Signal(syscall.SIGCONT)
	root.says(t, "apart ")
	closeAll(t, nodes...)
}

// TestAllMembersLetIn has two members tell a node that comes back about its epoch at the same moment.
func TestAllMembersLetIn(t *testing.T) {
	t.Parallel()
	for range 100 {
		n, err := newNode(t.Context(), Options{Number: 0, Nodes: 3, Key: testKey, Late: true, Peers: []string{"127.0.0.1:1", "127.0.0.1:2", "127.0.0.1:3"},
			Listen: "127.0.0.1:0", Incarnation: 9}.withDefaults())
		if err != nil {
			t.Fatal(err)
		}
		in := membership.Message{Kind: membership.Enter, Number: 5, Seats: []membership.Seat{
			{Life: 9, State: membership.In, Since: 5}, {Life: 2, State: membership.In, Since: 1}, {Life: 3, State: membership.In, Since: 1},
		}}
		var all sync.WaitGroup
		for from := 1; from < 3; from++ {
			all.Go(func() {
				if err := n.takeChange(from, in.Bytes()); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		<-n.joined
		if e := n.member.Epoch(); e.Number != 5 {
			t.Errorf("the node is in epoch %d", e.Number)
		}
		n.shut()
	}
}
