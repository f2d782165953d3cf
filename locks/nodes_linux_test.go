package locks_test

import (
	"context"
	"flag"
	"fmt"
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

// patienceOfNodes is the time limit for all locks. Every operation crosses two kernels and is
// encrypted, and other tests use the same cores.
const patienceOfNodes = 5 * time.Minute

// pairNode is one of the two nodes of a run, which execute the suite for one lock after the
// other. Starting the nodes takes longer than all cases of a lock.
type pairNode struct {
	*p2p.Node
	tree *topology.Tree
	how  string
	now  rma.Fabric // of the lock that is tried now
}

// joinPair joins a run of two nodes.
func joinPair(ctx context.Context, tree *topology.Tree, how string, o p2p.Options) (*pairNode, error) {
	o.Nodes = 2
	o.JoinTimeout = patienceOfNodes
	o.Lease = patienceOfNodes // ranks that spin may keep a node from speaking
	if err := carry(how, &o); err != nil {
		return nil, err
	}
	if o.Host != nil {
		context.AfterFunc(ctx, func() { o.Host.Close() })
	}
	n, err := p2p.Join(ctx, o)
	return &pairNode{Node: n, tree: tree, how: how}, err
}

// next tells both nodes which lock comes next, and makes its fabric. Node 0 names the lock.
// There is none after the empty name. Even ranks are on node 0, odd ranks on node 1.
func (n *pairNode) next(ctx context.Context, name string) (string, error) {
	names, err := n.Gather(ctx, "lock", []byte(name))
	if err != nil {
		return "", err
	}
	if n.now != nil { // neither node uses it any more
		if err := n.now.Close(); err != nil {
			return "", err
		}
	}
	if name = string(names[0]); name == "" {
		return "", n.Close(ctx)
	}
	n.now, err = n.Fabric(ctx, p2p.FabricOptions{
		Topology: n.tree, Words: 1 << 15, Context: ctx, Remote: n.how != byMemory,
		Node: func(p rma.Rank) int { return int(p) % 2 },
	})
	return name, err
}

// beNode is the program of the other process, node 1: it executes all cases of the locks that
// node 0 names.
func beNode(tree *topology.Tree, root, how string) error {
	ctx, cancel := context.WithTimeout(context.Background(), patienceOfNodes)
	defer cancel()
	n, err := joinPair(ctx, tree, how, p2p.Options{Number: 1, Root: root})
	if err != nil {
		return err
	}
	for {
		name, err := n.next(ctx, "")
		if err != nil || name == "" {
			return err
		}
		spec, _ := locks.ByName(name)
		if err := conformShare(ctx, n.now, spec, 1); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
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

// byFramesToo are the locks whose suite the ordinary test executes by frames: one of each
// family, and both kinds. What a lock does with its window, every lock shows in memory and in
// the simulator. What frames do, net/rmatest shows. So only the meeting of the two is left.
const byFramesToo = "TTS TKT-A MCS D-MCS CLH HEM-AH HMCS RMA-RW C-TKT-MCS"

var everyLock = flag.Bool("locks.frames", false, "TestConformanceOfNodes: every lock, not one of each family")

// TestConformanceOfNodes executes the suite with neighbouring ranks in different processes.
// The processes share only a connection: libp2p's, secured, on loopback.
func TestConformanceOfNodes(t *testing.T) {
	all := locks.All()
	if !*everyLock {
		all = nil
		for name := range strings.FieldsSeq(byFramesToo) {
			all = append(all, specOf(t, name))
		}
	}
	conformNodes(t, byFrames, all)
}

// TestConformanceOfNeighbours does so with processes that know that they are on one machine.
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
	t.Parallel()
	const machineText = "node:2 core:3"
	ctx, cancel := context.WithTimeout(t.Context(), patienceOfNodes)
	defer cancel()
	var other *exec.Cmd
	n, err := joinPair(ctx, machine(t, machineText), how, p2p.Options{Listening: func(root string) {
		other = otherNode(t, machineText, how, root)
	}})
	if err != nil {
		t.Fatal(err)
	}
	for _, spec := range all {
		if !t.Run(spec.Name, func(t *testing.T) { n.conform(ctx, t, spec) }) {
			return // the nodes no longer agree on what comes next
		}
	}
	if _, err := n.next(ctx, ""); err != nil {
		t.Error(err)
	}
	if err := other.Wait(); err != nil {
		t.Errorf("the other node: %v", err)
	}
}

// conform executes all cases of a lock on node 0, while node 1 does.
func (n *pairNode) conform(ctx context.Context, t *testing.T, spec locks.Spec) {
	if _, err := n.next(ctx, spec.Name); err != nil {
		t.Fatal(err)
	}
	if _, frames := n.now.(rma.Exposer); frames != (n.how != byMemory) {
		t.Errorf("the fabric is a %T, want windows by %s", n.now, n.how)
	}
	if err := conformShare(ctx, n.now, spec, 0); err != nil {
		t.Error(err)
	}
}

// otherNode starts this test binary as node 1.
func otherNode(t *testing.T, machineText, how, root string) *exec.Cmd {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	other := exec.Command(self)
	other.Env = append(os.Environ(), envTask+"=node "+how, envMachine+"="+machineText, envRoot+"="+root,
		"GORACE="+os.Getenv("GORACE")+" atexit_sleep_ms=0")
	other.Stderr = os.Stderr
	other.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = other.Process.Kill() })
	return other
}
