package p2p

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/orwl/go-orwl/net/p2p/internal/window"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/rmatest"
	"github.com/orwl/go-orwl/net/topology"
)

func TestMachineConformance(t *testing.T) { rmatest.Run(t, inWorld(2, false)) }

func TestMachineConformanceManyRanks(t *testing.T) { rmatest.RunRanks(t, 9, inWorld(3, false)) }

func TestMachineLifecycle(t *testing.T) { rmatest.Lifecycle(t, inWorld(2, false)) }

// TestOneRefusesTheMachine has one node that shares nothing: all fall back.
func TestOneRefusesTheMachine(t *testing.T) {
	for remote := range 2 {
		nodes := run(t, 2, func(o *Options) { o.Remote = o.Number == remote })
		made := make(chan error, 2)
		for _, n := range nodes {
			go func() {
				f, err := n.Fabric(soon(t), FabricOptions{Topology: topology.Flat(2), Words: 8})
				if _, ok := f.(*Fabric); err == nil && !ok {
					err = fmt.Errorf("node %d has a %T", n.Number(), f)
				}
				made <- err
			}()
		}
		for range nodes {
			if err := await(t, made, "a fabric"); err != nil {
				t.Errorf("node %d shares nothing: %v", remote, err)
			}
		}
	}
}

// TestMachineFabricEnds lets a node leave, or be lost. The windows of the others fail.
func TestMachineFabricEnds(t *testing.T) {
	for _, left := range []bool{true, false} {
		w := newWorld(t, 2, FabricOptions{Topology: topology.Flat(2), Words: 8})
		at, err := w.Alloc(1)
		if err != nil {
			t.Fatal(err)
		}
		zero, err := w.Window(0)
		if err != nil {
			t.Fatal(err)
		}
		failed := make(chan error, 1)
		go func() {
			_, err := zero.Await(context.Background(), 0, at, rma.Is(8))
			failed <- err
		}()
		nodes := w.nodes
		if left {
			closeAll(t, nodes[1])
		} else {
			nodes[0].peers[1].lose(errSilent)
		}
		err = await(t, failed, "the failure")
		var lost *rma.PeerLostError
		if !errors.As(err, &lost) || lost.Rank != 1 || errors.Is(err, rma.ErrClosed) != left {
			t.Errorf("left: %t: %v", left, err)
		}
		if err := zero.Err(); !errors.Is(err, rma.ErrPeerLost) {
			t.Errorf("the window's failure is %v", err)
		}
	}
}

// machineOptions describe a fabric with a rank in each of two processes.
var machineOptions = FabricOptions{Topology: topology.Flat(2), Words: 8}

const machineSums = 10_000

// TestMachineFabricBetweenProcesses has ranks in two processes count together, and wait
// for each other; and then one is killed.
func TestMachineFabricBetweenProcesses(t *testing.T) {
	root := make(chan string, 1)
	joined := make(chan error, 1)
	var n *Node
	go func() {
		var err error
		n, err = Join(soon(t), Options{Nodes: 2, Key: testKey, Listening: func(a string) { root <- a }})
		joined <- err
	}()
	other := process(t, "rank", <-root)
	if err := await(t, joined, "the other process"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeAll(t, n) })
	f, err := n.Fabric(soon(t), machineOptions)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := f.(*window.Machine); !ok {
		t.Fatalf("the fabric is a %T", f)
	}
	w, err := sums(f, 0)
	if err != nil {
		t.Fatal(err)
	}
	if got := w.Get(0, 0); got != 2*machineSums {
		t.Errorf("%d were counted, want %d", got, 2*machineSums)
	}
	if err := other.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_, err = w.Await(soon(t), 0, 2, rma.Is(1))
	var lost *rma.PeerLostError
	if !errors.As(err, &lost) || lost.Rank != 1 {
		t.Errorf("after the other was killed: %v", err)
	}
}

// sums adds to rank 0's first word, as the other rank does, and waits for it.
func sums(f rma.Fabric, p rma.Rank) (rma.Window, error) {
	w, err := f.Window(p)
	if err != nil {
		return nil, err
	}
	for range machineSums {
		w.FetchOp(0, 0, rma.Sum, 1)
	}
	w.Put(1-p, 1, 1)
	_, err = w.Await(context.Background(), p, 1, rma.Is(1))
	return w, err
}

func init() {
	actors["rank"] = func() int {
		n, err := Join(context.Background(), Options{Number: 1, Nodes: 2, Key: testKey, Root: os.Args[1]})
		var f rma.Fabric
		if err == nil {
			f, err = n.Fabric(context.Background(), machineOptions)
		}
		if err == nil {
			_, err = sums(f, 1)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		select {}
	}
}
