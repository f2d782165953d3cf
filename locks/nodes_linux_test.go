package locks_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/orwl/go-orwl/internal/rings"
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

// suiteNode is one of the nodes of a run, which execute the suite for one lock after the
// other. Starting the nodes takes longer than all cases of a lock.
type suiteNode struct {
	*p2p.Node
	tree *topology.Tree
	how  string
	now  rma.Fabric // of the lock that is tried now
}

var suiteKey = []byte("a key that no other run has")

// nodesBy is how many nodes there are.
func nodesBy(how string) int {
	if how == byMixture {
		return 2 * machinesOfMixture
	}
	return 2
}

// nodeOf is where a rank is. Even ranks are on node 0, odd ranks on node 1. With a mixture, the
// ranks of each element of level 2 are on the two nodes of a machine.
func (n *suiteNode) nodeOf(p rma.Rank) int {
	node := int(p) % 2
	if n.how == byMixture {
		node += 2 * n.tree.Element(p, 2)
	}
	return node
}

// mine reports whether a rank is on this node.
func (n *suiteNode) mine(p rma.Rank) bool { return n.nodeOf(p) == n.Number() }

// joinSuite joins a run of nodes.
func joinSuite(ctx context.Context, tree *topology.Tree, how string, o p2p.Options) (*suiteNode, error) {
	o.Nodes, o.Key = nodesBy(how), suiteKey
	o.JoinTimeout = patienceOfNodes
	o.Lease = patienceOfNodes // ranks that spin may keep a node from speaking
	if err := carry(how, &o); err != nil {
		return nil, err
	}
	if o.Host != nil {
		context.AfterFunc(ctx, func() { o.Host.Close() })
	}
	n, err := p2p.Join(ctx, o)
	return &suiteNode{Node: n, tree: tree, how: how}, err
}

// next tells all nodes which lock comes next, and makes its fabric. Node 0 names the lock.
// There is none after the empty name.
func (n *suiteNode) next(ctx context.Context, name string) (string, error) {
	names, err := n.Gather(ctx, "lock", []byte(name))
	if err != nil {
		return "", err
	}
	if n.now != nil { // no node uses it any more
		if err := n.now.Close(); err != nil {
			return "", err
		}
	}
	if name = string(names[0]); name == "" {
		return "", n.Close(ctx)
	}
	n.now, err = n.Fabric(ctx, p2p.FabricOptions{
		Topology: n.tree, Words: wordsOf(name), Context: ctx,
		Remote: n.how != byMemory && n.how != byMixture, Node: n.nodeOf,
	})
	return name, err
}

// beNode is a node beside node 0: it executes what node 0 names.
func beNode(tree *topology.Tree, how string, o p2p.Options) error {
	ctx, cancel := context.WithTimeout(context.Background(), patienceOfNodes)
	defer cancel()
	n, err := joinSuite(ctx, tree, how, o)
	if err != nil {
		return err
	}
	for {
		name, err := n.next(ctx, "")
		if err != nil || name == "" {
			return err
		}
		if err := n.play(ctx, name); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
}

// The windows of nodes use frames over a connection, or memory that nodes of one machine
// share, or a mixture: memory within each of several machines, and frames between them. Frames
// go by TCP, by QUIC, or by hosts that users have made.
const (
	byFrames    = "frames"
	byMemory    = "memory"
	byMixture   = "mixture"
	byQUIC      = "quic"
	byHosts     = "hosts"
	byHostsQUIC = "hosts-quic"
)

// machinesOfMixture is how many machines a mixture has, with two nodes each.
const machinesOfMixture = 2

// carry has a node use frames by QUIC, or a host that a user has made, or be on its machine of a
// mixture.
func carry(how string, o *p2p.Options) (err error) {
	switch how {
	case byMixture:
		o.Machine = fmt.Sprint("machine ", o.Number/2)
	case byQUIC:
		o.Carrier = quic.Carrier
	case byHosts:
		o.Host, err = p2ptest.Host(o.Key, o.Number, o.Nodes, p2ptest.TCP)
	case byHostsQUIC:
		o.Host, err = p2ptest.Host(o.Key, o.Number, o.Nodes, p2ptest.QUIC)
	}
	return err
}

// families is one lock of each family, and both kinds. Every lock shows in memory and in the
// simulator how it uses its window. net/rmatest shows what frames do. So only the meeting of the
// two is left.
const families = "TTS TKT-A MCS D-MCS CLH HEM-AH HMCS RMA-RW C-TKT-MCS"

var everyLock = rings.Size("locks.frames", 0, 0, 1, "TestConformanceOfNodes: every lock, not one of each family, if 1")

// someLocks are the locks whose names a text holds.
func someLocks(t *testing.T, names string) (some []locks.Spec) {
	t.Helper()
	for name := range strings.FieldsSeq(names) {
		some = append(some, specOf(t, name))
	}
	return some
}

// TestConformanceOfNodes executes the suite with neighbouring ranks in different processes.
// The processes share only a connection: libp2p's, secured, on loopback.
func TestConformanceOfNodes(t *testing.T) {
	all := someLocks(t, rings.Of("RMA-RW", families, families))
	if everyLock.N() > 0 {
		all = locks.All()
	}
	conformNodes(t, byFrames, all)
}

// TestConformanceOfNeighbours does so with processes that know that they are on one machine.
func TestConformanceOfNeighbours(t *testing.T) {
	all := locks.All()
	if rings.Now() == rings.User {
		all = someLocks(t, families)
	}
	conformNodes(t, byMemory, all)
}

// TestConformanceOfMixedMachines executes the suite with two machines that have two nodes each.
// The nodes are in this process, and say on which machine they are.
func TestConformanceOfMixedMachines(t *testing.T) {
	conformNodes(t, byMixture, someLocks(t, rings.Of("RMA-RW", families, families)))
}

// TestConformanceOfCarriers executes the suite of one lock, which uses every kind of operation,
// by all other ways.
func TestConformanceOfCarriers(t *testing.T) {
	rings.Needs(t, rings.Change) // the user's share is net/p2p's own suite of windows
	for _, how := range []string{byQUIC, byHosts, byHostsQUIC} {
		t.Run(how, func(t *testing.T) { conformNodes(t, how, someLocks(t, "RMA-RW")) })
	}
}

func conformNodes(t *testing.T, how string, all []locks.Spec) {
	t.Parallel()
	const machineText = "node:2 core:3"
	ctx, cancel := context.WithTimeout(t.Context(), patienceOfNodes)
	defer cancel()
	tree := machine(t, machineText)
	ended := make(chan error, nodesBy(how))
	n, err := joinSuite(ctx, tree, how, p2p.Options{Listening: func(root string) {
		if how != byMixture {
			other := otherNode(t, machineText, how, root)
			go func() { ended <- other.Wait() }()
			return
		}
		for number := 1; number < nodesBy(how); number++ {
			go func() { ended <- beNode(tree, how, p2p.Options{Number: number, Root: root}) }()
		}
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
	for range nodesBy(how) - 1 {
		if err := <-ended; err != nil {
			t.Errorf("another node: %v", err)
		}
	}
}

// conform executes all cases of a lock on node 0, while the other nodes do.
func (n *suiteNode) conform(ctx context.Context, t *testing.T, spec locks.Spec) {
	if _, err := n.next(ctx, spec.Name); err != nil {
		t.Fatal(err)
	}
	if _, frames := n.now.(rma.Exposer); frames != (n.how != byMemory && n.how != byMixture) {
		t.Errorf("the fabric is a %T, want windows by %s", n.now, n.how)
	}
	if n.how == byMixture {
		n.checkMixture(t)
	}
	if err := conformShare(ctx, n.now, spec, n.mine); err != nil {
		t.Error(err)
	}
}

// checkMixture checks which memory rank 0 reaches directly: its machine's.
func (n *suiteNode) checkMixture(t *testing.T) {
	w, err := n.now.Window(0)
	if err != nil {
		t.Fatal(err)
	}
	for p := range rma.Rank(n.tree.Ranks()) {
		if _, direct := w.(rma.Shared).Direct(p, 0); direct != (n.tree.Element(p, 2) == 0) {
			t.Errorf("the memory of rank %d is direct: %t", p, direct)
		}
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
