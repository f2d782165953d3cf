package p2p

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/orwl/go-orwl/internal/rings"
)

// runUnder starts a run whose node 0 has a process of its own, and whose others are here.
func runUnder(t *testing.T, others int, lease time.Duration) (*actor, []*Node) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), roleVariable+"=node", "ORWL_P2P_TEST_NUMBER=0", fmt.Sprint("ORWL_P2P_TEST_NODES=", 1+others),
		"ORWL_P2P_TEST_LEASE="+lease.String())
	root := startActor(t, cmd)
	address := root.says(t, "listens ")[len("listens "):]
	nodes, errs := make([]*Node, others), make([]error, others)
	var joining sync.WaitGroup
	for i := range nodes {
		o := Options{Number: i + 1, Nodes: 1 + others, Key: testKey, Root: address, Remote: true, Lease: lease}
		joining.Go(func() { nodes[i], errs[i] = Join(soon(t), o) })
	}
	if joining.Wait(); errors.Join(errs...) != nil {
		t.Fatal(errs)
	}
	root.says(t, "joined")
	t.Cleanup(func() { closeAll(t, nodes...) })
	return root, nodes
}

// apart gets why a node is apart.
func (n *Node) isApart() <-chan error {
	apart := make(chan error, 1)
	n.OnApart(func(why error) { apart <- why })
	return apart
}

// gatherWithout checks that the nodes gather without node 0, after whatever it was that happened.
func gatherWithout(t *testing.T, nodes []*Node, happens func()) {
	t.Helper()
	var all sync.WaitGroup
	for _, n := range nodes {
		all.Go(func() {
			for round := range 3 {
				blobs, err := n.Gather(soon(t), "on", []byte{byte(n.Number())})
				if want := [][]byte{nil, {1}, {2}}; err != nil || !slices.EqualFunc(blobs, want, slices.Equal) {
					t.Errorf("node %d, round %d: %v, %v, want %v", n.Number(), round, blobs, err, want)
				}
			}
		})
	}
	happens()
	all.Wait()
}

// TestNode0Killed kills node 0 of three while the others wait for it. They go on.
func TestNode0Killed(t *testing.T) {
	t.Parallel()
	root, nodes := runUnder(t, 2, unhurried)
	lost := []<-chan error{nodes[0].losses(), nodes[1].losses()}
	gatherWithout(t, nodes, func() { root.Process.Kill() })
	for i, n := range nodes {
		if err := await(t, lost[i], "the loss"); !errors.Is(err, ErrLost) {
			t.Errorf("node %d has lost node 0 by %v", n.Number(), err)
		}
	}
}

// TestNode0Stopped stops node 0 of three. The others go on, and node 0 learns that it is apart.
func TestNode0Stopped(t *testing.T) {
	rings.Silence(t)
	t.Parallel()
	root, nodes := runUnder(t, 2, hurried)
	gatherWithout(t, nodes, func() { root.Process.Signal(syscall.SIGSTOP) })
	root.Process.Signal(syscall.SIGCONT)
	root.says(t, "apart ")
}

// TestMinority stops node 0 of two. Node 1 cannot know that it has ended, and is apart.
func TestMinority(t *testing.T) {
	rings.Silence(t)
	t.Parallel()
	root, nodes := runUnder(t, 1, hurried)
	apart := nodes[0].isApart()
	failed := make(chan error, 1)
	go func() {
		_, err := nodes[0].Gather(soon(t), "never", nil)
		failed <- err
	}()
	root.Process.Signal(syscall.SIGSTOP)
	if err := await(t, apart, "the news"); !errors.Is(err, ErrApart) {
		t.Errorf("node 1 is apart by %v", err)
	}
	if err := await(t, failed, "the end of Gather"); !errors.Is(err, ErrApart) {
		t.Errorf("Gather of a node that is apart: %v", err)
	}
	if err := await(t, nodes[0].isApart(), "the news, later"); !errors.Is(err, ErrApart) {
		t.Errorf("node 1 is apart by %v", err)
	}
}

// TestMinorityGoesOn kills node 0 of two. Node 1 was in touch with it, and goes on.
func TestMinorityGoesOn(t *testing.T) {
	t.Parallel()
	root, nodes := runUnder(t, 1, unhurried)
	root.Process.Kill()
	if blobs, err := nodes[0].Gather(soon(t), "alone", []byte{7}); err != nil || blobs[0] != nil || string(blobs[1]) != "\a" {
		t.Errorf("node 1 alone: %v, %v", blobs, err)
	}
}

// TestAgain has three nodes lose each other at the same moment, though all live. Nobody goes on. They come again, as other lives, and
// are in one epoch. On a busy machine they may lose each other once more.
func TestAgain(t *testing.T) {
	t.Parallel()
	nodes := run(t, 3, func(o *Options) { o.Lease = 500 * time.Millisecond })
	for _, n := range nodes {
		for _, p := range n.all() {
			if p != nil {
				p.lose(errSilent)
			}
		}
	}
	var mu sync.Mutex
	last, all := make([]uint64, 3), make(chan struct{})
	over := sync.OnceFunc(func() { close(all) })
	var coming sync.WaitGroup
	for i, n := range nodes {
		coming.Go(func() {
			for {
				n.OnEpoch(func(e Epoch) {
					mu.Lock()
					defer mu.Unlock()
					if len(e.Members()) == 3 && e.Number > 1 {
						if last[i] = e.Number; slices.Min(last) == slices.Max(last) {
							over()
						}
					}
				})
				select {
				case <-all:
					closeAll(t, n)
					return
				case <-n.isApart():
				}
				var err error
				if n, err = n.Again(soon(t)); err != nil {
					t.Errorf("node %d: %v", i, err)
					over()
					return
				}
			}
		})
	}
	coming.Wait()
	if _, err := nodes[0].Again(t.Context()); err == nil {
		t.Error("a life that is over comes again twice")
	}
}
