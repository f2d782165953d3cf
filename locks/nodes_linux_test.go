package locks_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/net/p2p"
	"github.com/orwl/go-orwl/net/p2p/p2ptest"
	"github.com/orwl/go-orwl/net/p2p/quic"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/topology"
)

// envRoot tells the process of node 1 at which address node 0 listens.
const envRoot = "ORWL_LOCKS_ROOT"

// patienceOfNodes is the time limit for all cases of a lock. Every operation crosses two
// kernels and is encrypted, and the processes of other locks use the same cores.
const patienceOfNodes = 3 * time.Minute

// onNodes joins a run of two nodes and makes a fabric. Even ranks are on node 0, odd ranks
// on node 1.
func onNodes(ctx context.Context, tree *topology.Tree, how string, o p2p.Options) (*p2p.Node, rma.Fabric, error) {
	o.Nodes = 2
	o.JoinTimeout = patienceOfNodes
	if err := carry(how, &o); err != nil {
		return nil, nil, err
	}
	if o.Host != nil {
		context.AfterFunc(ctx, func() { o.Host.Close() })
	}
	n, err := p2p.Join(ctx, o)
	if err != nil {
		return nil, nil, err
	}
	f, err := n.Fabric(ctx, p2p.FabricOptions{
		Topology: tree, Words: 1 << 15, Context: ctx, Remote: how != byMemory,
		Node: func(p rma.Rank) int { return int(p) % 2 },
	})
	return n, f, err
}

// beNode is the program of the other process, node 1: it executes all cases of the lock.
func beNode(tree *topology.Tree, root, arg string) error {
	name, how, _ := strings.Cut(arg, " ")
	ctx, cancel := context.WithTimeout(context.Background(), patienceOfNodes)
	defer cancel()
	n, f, err := onNodes(ctx, tree, how, p2p.Options{Number: 1, Root: root})
	if err != nil {
		return err
	}
	spec, _ := locks.ByName(name)
	if err := conformShare(ctx, f, spec, 1); err != nil {
		return err
	}
	return leave(ctx, n)
}

// leave ends a node when the other node has also come to its end. Until then its memory is
// in use.
func leave(ctx context.Context, n *p2p.Node) error {
	_, err := n.Gather(ctx, "end", nil)
	return errors.Join(err, n.Close(ctx))
}

// The windows of nodes use frames over a connection, or memory that nodes of one machine
// share. Frames go by TCP, by QUIC, or by hosts that users have made.
const (
	byFrames    = "frames"
	byMemory    = "memory"
	byQUIC      = "quic"
	byHosts     = "hosts"
	byHostsQUIC = "hosts-quic"
)

// carry has a node use frames by QUIC, or a host that a user has made.
func carry(how string, o *p2p.Options) (err error) {
	switch how {
	case byQUIC:
		o.Carrier = quic.Carrier
	case byHosts:
		o.Host, err = p2ptest.Host(nil, o.Number, o.Nodes, p2ptest.TCP)
	case byHostsQUIC:
		o.Host, err = p2ptest.Host(nil, o.Number, o.Nodes, p2ptest.QUIC)
	}
	return err
}

// TestConformanceOfNodes executes the suite with neighbouring ranks in different processes.
// The processes share only a connection: libp2p's, secured, on loopback.
func TestConformanceOfNodes(t *testing.T) { conformNodes(t, byFrames, locks.All()) }

// TestConformanceOfNeighbours does so with processes that know that they are on one
// machine.
func TestConformanceOfNeighbours(t *testing.T) { conformNodes(t, byMemory, locks.All()) }

// TestConformanceOfCarriers executes the suite of one lock, which uses every kind of operation,
// by all other ways.
func TestConformanceOfCarriers(t *testing.T) {
	spec, _ := locks.ByName("RMA-RW")
	for _, how := range []string{byQUIC, byHosts, byHostsQUIC} {
		t.Run(how, func(t *testing.T) { conformNodes(t, how, []locks.Spec{spec}) })
	}
}

func conformNodes(t *testing.T, how string, all []locks.Spec) {
	const machineText = "node:2 core:3"
	for _, spec := range all {
		t.Run(spec.Name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), patienceOfNodes)
			defer cancel()
			var other *exec.Cmd
			n, f, err := onNodes(ctx, machine(t, machineText), how, p2p.Options{Listening: func(root string) {
				other = otherNode(t, machineText, spec.Name+" "+how, root)
			}})
			if err != nil {
				t.Fatal(err)
			}
			if _, frames := f.(rma.Exposer); frames != (how != byMemory) {
				t.Errorf("the fabric is a %T, want windows by %s", f, how)
			}
			if err := conformShare(ctx, f, spec, 0); err != nil {
				t.Error(err)
			}
			if err := leave(ctx, n); err != nil {
				t.Error(err)
			}
			if err := other.Wait(); err != nil {
				t.Errorf("the other node: %v", err)
			}
		})
	}
}

// otherNode starts this test binary as node 1.
func otherNode(t *testing.T, machineText, lock, root string) *exec.Cmd {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	other := exec.Command(self)
	other.Env = append(os.Environ(), envTask+"=node "+lock, envMachine+"="+machineText, envRoot+"="+root,
		"GORACE="+os.Getenv("GORACE")+" atexit_sleep_ms=0")
	other.Stderr = os.Stderr
	other.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = other.Process.Kill() })
	return other
}
