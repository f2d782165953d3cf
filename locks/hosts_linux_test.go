package locks_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/orwl/go-orwl/internal/netns"
	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/net/p2p"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/rmatest"
	"github.com/orwl/go-orwl/net/topology"
)

// A process on a host finds in its environment which node it is, and where it listens.
const (
	envNumber = "ORWL_LOCKS_NUMBER"
	envListen = "ORWL_LOCKS_LISTEN"
)

// Node 0 names locks, and other things, which begin with one of these words.
const (
	caseOfWindows = "window "
	handOvers     = "hand-over "
)

// TestConformanceOfHosts has two hosts with two processes each: memory within a host, and a
// network between them. The processes execute the suite of windows and then the suite of some locks,
// and measure hand-overs. It takes 10 s of a processor: each case of the windows has a fabric of its
// own, and each packet passes through this process.
func TestConformanceOfHosts(t *testing.T) {
	rings.Needs(t, rings.Change)
	t.Parallel()
	net := netns.New(t, machinesOfMixture)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	root := ""
	var all []*exec.Cmd
	var says *bufio.Scanner
	for number := range nodesBy(byMixture) {
		host := number / 2
		cmd := net.Command(host, self)
		cmd.Env = append(os.Environ(), envTask+"=node "+byMixture, envMachine+"=node:2 core:3", envRoot+"="+root,
			fmt.Sprint(envNumber, "=", number), envListen+"="+net.Address(host)+":0",
			"GORACE="+os.Getenv("GORACE")+" atexit_sleep_ms=0")
		cmd.Stderr = os.Stderr
		cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		if number == 0 {
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			says = bufio.NewScanner(out)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = cmd.Process.Kill() })
		all = append(all, cmd)
		if number == 0 {
			says.Scan()
			root = strings.TrimPrefix(says.Text(), "listens ")
		}
	}
	for says.Scan() {
		t.Log(says.Text())
	}
	for number, cmd := range all {
		if err := cmd.Wait(); err != nil {
			t.Errorf("node %d: %v", number, err)
		}
	}
}

// beOnHost is the program of a process on a host.
func beOnHost(tree *topology.Tree, how string) error {
	number, err := strconv.Atoi(os.Getenv(envNumber))
	if err != nil {
		return err
	}
	o := p2p.Options{Number: number, Root: os.Getenv(envRoot), Listen: os.Getenv(envListen)}
	if number > 0 {
		return beNode(tree, how, o)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patienceOfNodes)
	defer cancel()
	o.Listening = func(address string) { fmt.Println("listens", address) }
	n, err := joinSuite(ctx, tree, how, o)
	if err != nil {
		return err
	}
	for _, name := range playedOnHosts() {
		if _, err := n.next(ctx, name); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if err := n.play(ctx, name); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	_, err = n.next(ctx, "")
	return err
}

// playedOnHosts is what node 0 names.
func playedOnHosts() (all []string) {
	for _, c := range rmatest.Cases() {
		all = append(all, caseOfWindows+c.Name)
	}
	some := "MCS HMCS RMA-RW" // a queue, a tree, and readers
	if everyLock.N() > 0 {
		some = families
	}
	all = append(all, strings.Fields(some)...)
	return append(all, handOvers+"1", handOvers+"3") // ranks 0 to 2 are on the first host
}

// wordsOf is how much memory each rank needs.
func wordsOf(name string) int {
	const some = 1 << 15
	name, is := strings.CutPrefix(name, caseOfWindows)
	if !is {
		return some
	}
	c, err := rmatest.CaseByName(name)
	if err != nil {
		return some // play says what is wrong
	}
	return max(some, c.Words)
}

// play executes the part of this node in what node 0 has named.
func (n *suiteNode) play(ctx context.Context, name string) error {
	if name, is := strings.CutPrefix(name, caseOfWindows); is {
		c, err := rmatest.CaseByName(name)
		if err != nil {
			return err
		}
		return performShare(ctx, n.now, c, n.mine)
	}
	if other, is := strings.CutPrefix(name, handOvers); is {
		p, err := strconv.Atoi(other)
		if err != nil {
			return err
		}
		return n.handOver(ctx, rma.Rank(p))
	}
	spec, _ := locks.ByName(name)
	return conformShare(ctx, n.now, spec, n.mine)
}

// handOver has rank 0 and another one contend for an MCS lock, and says how long it takes until
// the other one has it.
func (n *suiteNode) handOver(ctx context.Context, other rma.Rank) error {
	spec, _ := locks.ByName("MCS")
	l, err := spec.New(n.now, locks.Options{})
	if err != nil {
		return err
	}
	at, err := n.now.Alloc(2)
	if err != nil {
		return err
	}
	var both sync.WaitGroup
	var errs [2]error
	for i, p := range [2]rma.Rank{0, other} {
		if !n.mine(p) {
			continue
		}
		both.Go(func() {
			var took time.Duration
			if took, errs[i] = n.contend(ctx, l, p, at); p == 0 {
				fmt.Printf("between ranks 0 and %d, a hand-over of MCS takes %v\n", other, took)
			}
		})
	}
	both.Wait()
	return errors.Join(errs[:]...)
}

// contend acquires a lock again and again, until its holder has changed so many times. The word
// at a displacement of rank 0 is the rank that had it last, and the next one counts. It returns the time
// between two changes.
func (n *suiteNode) contend(ctx context.Context, l *locks.Lock, p rma.Rank, at rma.Disp) (time.Duration, error) {
	const changes = 400
	w, err := n.now.Window(p)
	if err != nil {
		return 0, err
	}
	m := l.At(w)
	var began time.Time
	for {
		if err := m.Acquire(ctx); err != nil {
			return 0, err
		}
		changed := w.Get(0, at+1)
		if changed > 0 && began.IsZero() {
			began = time.Now()
		}
		if w.Get(0, at) != uint64(p)+1 {
			w.Put(0, at, uint64(p)+1)
			w.FetchOp(0, at+1, rma.Sum, 1)
		}
		m.Release()
		if changed >= changes {
			return time.Since(began) / changes, nil
		}
	}
}
