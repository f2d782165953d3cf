package p2p

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/net/p2p/internal/lease"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/rmatest"
	"github.com/orwl/go-orwl/net/topology"
)

func TestMachineConformance(t *testing.T) {
	t.Parallel()
	rmatest.Run(t, inWorld(t, 2, 1))
}

// In every ring TestMixedConformanceManyRanks has as many ranks.
func TestMachineConformanceManyRanks(t *testing.T) {
	rings.Needs(t, rings.Change)
	t.Parallel()
	rmatest.RunRanks(t, 9, inWorld(t, 3, 1))
}

func TestMachineLifecycle(t *testing.T) {
	t.Parallel()
	rmatest.Lifecycle(t, inWorld(t, 2, 1))
}

// TestMixedConformance has two nodes on one machine and one on another: neighbouring ranks
// reach each other by memory or by frames. In every ring TestMixedConformanceManyRanks has as many
// nodes, and more ranks.
func TestMixedConformance(t *testing.T) {
	rings.Needs(t, rings.Change)
	t.Parallel()
	rmatest.Run(t, inWorld(t, 3, 2))
}

func TestMixedConformanceManyRanks(t *testing.T) {
	t.Parallel()
	rmatest.RunRanks(t, rings.Sampling(9, 5), inWorld(t, 3, 2))
}

func TestMixedLifecycle(t *testing.T) {
	t.Parallel()
	rmatest.Lifecycle(t, inWorld(t, 3, 2))
}

// TestOneSharesNothing has one node that shares nothing: two others share memory, and one
// that is alone falls back.
func TestOneSharesNothing(t *testing.T) {
	t.Parallel()
	for _, count := range []int{2, 3} {
		for remote := range count {
			nodes := run(t, count, func(o *Options) { o.Remote = o.Number == remote })
			made := make(chan error, count)
			for _, n := range nodes {
				go func() {
					f, err := n.Fabric(soon(t), FabricOptions{Topology: topology.Flat(count), Words: 8})
					if _, exposes := f.(rma.Exposer); err == nil && exposes != (count == 2) {
						err = fmt.Errorf("node %d has a %T", n.Number(), f)
					}
					made <- err
				}()
			}
			for range nodes {
				if err := await(t, made, "a fabric"); err != nil {
					t.Errorf("node %d of %d shares nothing: %v", remote, count, err)
				}
			}
		}
	}
}

// TestMachineFabricEnds lets a node leave, or be lost. The windows of the others fail.
func TestMachineFabricEnds(t *testing.T) {
	t.Parallel()
	for _, on := range []machines{1, 2} {
		for _, left := range []bool{true, false} {
			machineFabricEnds(t, on, left)
		}
	}
}

func machineFabricEnds(t *testing.T, on machines, left bool) {
	w := newWorld(t, 3, on, FabricOptions{Topology: topology.Flat(3), Words: 8})
	at, err := w.Alloc(1)
	if err != nil {
		t.Fatal(err)
	}
	ranks := []rma.Rank{0, 2} // on one machine, node 2 has no connection to node 1
	failed := make(chan error, len(ranks))
	windows := make([]rma.Window, 3)
	for _, p := range ranks {
		if windows[p], err = w.Window(p); err != nil {
			t.Fatal(err)
		}
		go func() {
			_, err := windows[p].Await(context.Background(), 0, at, rma.Is(8))
			failed <- err
		}()
	}
	if left {
		closeAll(t, w.nodes[1])
	} else {
		w.nodes[0].peer(1).lose(lease.ErrEnded) // by silence, the others would wait for the lease
	}
	for range ranks {
		err := await(t, failed, "the failure")
		var lost *rma.PeerLostError
		if !errors.As(err, &lost) || lost.Rank != 1 {
			t.Errorf("on %d machines, left: %t: %v", on, left, err)
		}
	}
	for _, p := range ranks {
		if err := windows[p].Err(); !errors.Is(err, rma.ErrPeerLost) || errors.Is(err, rma.ErrClosed) != left {
			t.Errorf("on %d machines, left: %t: the failure of rank %d's window is %v", on, left, p, err)
		}
	}
}

// processOptions are the fabric of a run of processes, with one rank each.
func processOptions(nodes int) FabricOptions {
	return FabricOptions{Topology: topology.Flat(nodes), Words: 8}
}

const machineSums = 3_000

// TestFabricBetweenProcesses has ranks in processes count together, and wait for each other;
// and then one is killed. All others hear which.
func TestFabricBetweenProcesses(t *testing.T) {
	t.Parallel()
	for _, on := range []machines{1, 2} {
		t.Run(fmt.Sprintf("%d machines", on), func(t *testing.T) { betweenProcesses(t, on, 2*int(on)) })
	}
}

func betweenProcesses(t *testing.T, on machines, nodes int) {
	root := make(chan string, 1)
	joined := make(chan error, 1)
	var n *Node
	go func() {
		o := Options{Nodes: nodes, Key: testKey, Lease: unhurried, Listening: func(a string) { root <- a }}
		on.of(nodes)(&o)
		var err error
		n, err = Join(soon(t), o)
		joined <- err
	}()
	address := <-root
	others := make([]*exec.Cmd, nodes)
	for i := 1; i < nodes; i++ {
		others[i] = process(t, "rank", fmt.Sprint(i), fmt.Sprint(nodes), fmt.Sprint(int(on)), address)
	}
	if err := await(t, joined, "the other processes"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeAll(t, n) })
	f, err := n.Fabric(soon(t), processOptions(nodes))
	if err != nil {
		t.Fatal(err)
	}
	w, err := sums(n, f)
	if err != nil {
		t.Fatal(err)
	}
	for p := range nodes {
		if got := w.Get(rma.Rank(p), 0); got != uint64(nodes)*machineSums {
			t.Errorf("rank %d: %d were counted, want %d", p, got, nodes*machineSums)
		}
		if _, direct := w.(rma.Shared).Direct(rma.Rank(p), 0); direct != (p < nodes/int(on)) {
			t.Errorf("the memory of rank %d is direct: %t", p, direct)
		}
	}
	if err := others[1].Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_, err = w.Await(soon(t), 0, 2, rma.Is(1))
	var lost *rma.PeerLostError
	if !errors.As(err, &lost) || lost.Rank != 1 {
		t.Errorf("after node 1 was killed: %v", err)
	}
	if _, err := n.Gather(soon(t), "heard", nil); err != nil {
		t.Errorf("after node 1 was killed: %v", err)
	}
	for i := 2; i < nodes; i++ {
		if err := others[i].Wait(); err != nil {
			t.Errorf("node %d, after node 1 was killed: %v", i, err)
		}
	}
}

// sums adds to each rank's first word, as all ranks do, and waits for them.
func sums(n *Node, f rma.Fabric) (rma.Window, error) {
	p := rma.Rank(n.Number())
	w, err := f.Window(p)
	if err != nil {
		return nil, err
	}
	ranks := rma.Rank(f.Topology().Ranks())
	for range machineSums {
		for q := range ranks {
			w.Accumulate(q, 0, rma.Sum, 1)
		}
	}
	w.FlushAll()
	for q := range ranks {
		w.FetchOp(q, 1, rma.Sum, 1)
	}
	if _, err = w.Await(context.Background(), p, 1, rma.Is(uint64(ranks))); err == nil {
		_, err = n.Gather(context.Background(), "counted", nil)
	}
	return w, err
}

func init() {
	actors["rank"] = func() int {
		var number, nodes, on int
		for i, v := range []*int{&number, &nodes, &on} {
			fmt.Sscan(os.Args[i+1], v)
		}
		if err := beRank(number, nodes, machines(on), os.Args[4]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return 0
	}
}

// beRank counts together with the others, and waits until it hears that rank 1 is lost.
func beRank(number, nodes int, on machines, root string) error {
	ctx := context.Background()
	o := Options{Number: number, Nodes: nodes, Key: testKey, Lease: unhurried, Root: root}
	on.of(nodes)(&o)
	n, err := Join(ctx, o)
	if err != nil {
		return err
	}
	f, err := n.Fabric(ctx, processOptions(nodes))
	if err != nil {
		return err
	}
	w, err := sums(n, f)
	if err != nil {
		return err
	}
	_, err = w.Await(ctx, 0, 2, rma.Is(1)) // which is on the other machine, if there is one
	var lost *rma.PeerLostError
	if !errors.As(err, &lost) || lost.Rank != 1 {
		return fmt.Errorf("node %d: its Await ended with %w, want the loss of rank 1", number, err)
	}
	_, err = n.Gather(ctx, "heard", nil) // a process that ends at once would be lost, too
	return err
}

// process starts this test binary as another process, in a role.
func process(t testing.TB, role string, args ...string) *exec.Cmd {
	t.Helper()
	c := exec.Command(os.Args[0], args...)
	c.Env = append(os.Environ(), roleVariable+"="+role)
	c.Stderr = os.Stderr
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill() })
	return c
}
