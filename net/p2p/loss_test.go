package p2p

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/orwl/go-orwl/internal/rings"
)

func init() { actors["node"] = playNode }

// playNode is a node of its own process. It joins, says what happens to it, and echoes
// channel 1. A parcel on channel 2 names a FIFO that starves it. It ends when no
// process holds its input any more.
func playNode() int {
	number, _ := strconv.Atoi(os.Getenv("ORWL_P2P_TEST_NUMBER"))
	nodes, _ := strconv.Atoi(os.Getenv("ORWL_P2P_TEST_NODES"))
	lease, _ := time.ParseDuration(os.Getenv("ORWL_P2P_TEST_LEASE"))
	n, err := Join(context.Background(), Options{
		Number: number, Nodes: nodes, Key: testKey, Root: os.Getenv("ORWL_P2P_TEST_ROOT"),
		Listening: func(address string) { fmt.Println("listens", address) },
		Lease:     lease, Launched: os.Getenv("ORWL_P2P_TEST_LAUNCHED") != "",
	})
	if err != nil {
		fmt.Println("failed", err)
		return 1
	}
	n.OnSuspect(func(peer int) { fmt.Println("suspects", peer) })
	n.OnLoss(func(peer int, why error) { fmt.Println("lost", peer, why) })
	n.OnApart(func(why error) { fmt.Println("apart", why) })
	echoes := n.Receive(1, Receiver{Take: func(from int, header, bulk []byte) error {
		return n.Send(from, 1, header, bulk, false)
	}})
	starves := n.Receive(2, Receiver{Take: func(_ int, fifo, _ []byte) error { return starve(string(fifo)) }})
	if err := errors.Join(echoes, starves); err != nil {
		fmt.Println("failed", err)
		return 1
	}
	fmt.Println("joined")
	io.Copy(io.Discard, os.Stdin)
	return 0
}

// actor is a node in another process.
type actor struct {
	*exec.Cmd
	in    io.Writer
	lines chan string
}

// startActor starts a command that plays an actor. It is killed in the end.
func startActor(t *testing.T, cmd *exec.Cmd) *actor {
	t.Helper()
	a := &actor{Cmd: cmd, lines: make(chan string, 1000)}
	a.Stderr = os.Stderr
	in, err := a.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	a.in = in
	out, err := a.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Start(); err != nil {
		t.Fatal(err)
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		for s := bufio.NewScanner(out); s.Scan(); {
			a.lines <- s.Text()
		}
	}()
	t.Cleanup(func() {
		in.Close()
		a.Process.Kill()
		<-read
		a.Wait()
	})
	return a
}

// says waits until the actor says something that begins like one of these.
func (a *actor) says(t *testing.T, beginnings ...string) string {
	t.Helper()
	for {
		line := await(t, a.lines, fmt.Sprintf("%q of the other process", beginnings))
		if slices.ContainsFunc(beginnings, func(b string) bool { return strings.HasPrefix(line, b) }) {
			return line
		}
	}
}

// starve runs no goroutine of this process until a process reads the FIFO. The kernel
// sees a process that runs and waits for a pipe.
func starve(fifo string) error {
	ballast := make([]byte, 1<<20) // more than a pipe takes
	fd, err := syscall.Open(fifo, syscall.O_WRONLY, 0)
	if err != nil {
		return err
	}
	debug.WriteHeapDump(uintptr(fd)) // the world stops until all of it is written
	runtime.KeepAlive(ballast)
	return syscall.Close(fd)
}

// runWith starts a run whose node 0 is here, and whose others have processes of their
// own, with its lease and its launcher.
func runWith(t *testing.T, others int, change func(o *Options)) (*Node, []*actor) {
	t.Helper()
	o := Options{Lease: unhurried}
	if change != nil {
		change(&o)
	}
	launched := ""
	if o.Launched {
		launched = "yes"
	}
	address, root, failed := start(t, 1+others, change)
	actors := make([]*actor, 1+others)
	for i := 1; i <= others; i++ {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), roleVariable+"=node", "ORWL_P2P_TEST_ROOT="+address,
			fmt.Sprint("ORWL_P2P_TEST_NUMBER=", i), fmt.Sprint("ORWL_P2P_TEST_NODES=", 1+others),
			"ORWL_P2P_TEST_LEASE="+o.Lease.String(), "ORWL_P2P_TEST_LAUNCHED="+launched)
		actors[i] = startActor(t, cmd)
	}
	var n *Node
	select {
	case n = <-root:
	case err := <-failed:
		t.Fatal(err)
	}
	t.Cleanup(func() { closeAll(t, n) })
	for _, a := range actors[1:] {
		a.says(t, "joined")
	}
	return n, actors
}

// losses are the nodes that n loses.
func (n *Node) losses() <-chan error {
	lost := make(chan error, n.Nodes())
	n.OnLoss(func(_ int, why error) { lost <- why })
	return lost
}

// TestKilled kills a process. It is lost, and a node that never spoke to it hears so.
func TestKilled(t *testing.T) {
	t.Parallel()
	n, actors := runWith(t, 2, nil)
	lost := n.losses()
	actors[1].Process.Kill()
	err := await(t, lost, "the loss")
	var gone *PeerError
	if !errors.As(err, &gone) || gone.Node != 1 || gone.Address == "" || !errors.Is(err, ErrLost) || errors.Is(err, ErrLeft) {
		t.Errorf("lost by %v, want ErrLost of node 1", err)
	}
	if err := n.Send(1, 1, nil, nil, false); !errors.Is(err, ErrLost) {
		t.Errorf("Send to it: %v, want ErrLost", err)
	}
	if line := actors[2].says(t, "lost 1 "); !strings.Contains(line, "epoch 2 goes on without it, because its process has ended") {
		t.Errorf("node 2 says %q, want that node 0 told it", line)
	}
}

// TestSilent lets an hour pass without a beat, on the clock that the heart is told. The silent
// node is lost. It learns that from the node that has given it up.
func TestSilent(t *testing.T) {
	t.Parallel()
	nodes := run(t, 2, nil)
	zero, one := nodes[0].losses(), nodes[1].losses()
	for p := nodes[0].peer(1); p.loss() == nil; { // a beat that comes at this moment saves it
		nodes[0].heart.home(p, nodes[0].now()+int64(time.Hour))
	}
	if err := await(t, zero, "the loss"); !errors.Is(err, ErrLost) || !errors.Is(err, errSilent) {
		t.Errorf("lost by %v, want silence", err)
	}
	if err := await(t, one, "the other's loss"); !errors.Is(err, ErrLost) {
		t.Errorf("node 1 has lost node 0 by %v, want ErrLost", err)
	}
	if !nodes[0].Suspected(1) {
		t.Error("a node that is lost is not suspected")
	}
}

// TestStopped stops a process. It is lost by its silence. When it goes on, its
// clock makes it suspect so at once, unless it is told first.
func TestStopped(t *testing.T) {
	rings.Silence(t)
	t.Parallel()
	n, actors := runWith(t, 1, func(o *Options) { o.Lease = hurried })
	lost := n.losses()
	actors[1].Process.Signal(syscall.SIGSTOP)
	// Bytes that are written to it do not hold up the loss, however many.
	for range 8 {
		if err := n.Send(1, 1, nil, make([]byte, 4<<20), true); err != nil && !errors.Is(err, ErrLost) {
			t.Fatal(err)
		}
	}
	paced := make(chan error, 1)
	go func() { paced <- n.Pace(soon(t), 1) }()
	err := await(t, lost, "the loss")
	if !errors.Is(err, ErrLost) || !errors.Is(err, errSilent) {
		t.Errorf("lost by %v, want silence", err)
	}
	if err := await(t, paced, "the end of Pace"); !errors.Is(err, ErrLost) {
		t.Errorf("Pace for it: %v, want ErrLost", err)
	}
	actors[1].Process.Signal(syscall.SIGCONT)
	if strings.HasPrefix(actors[1].says(t, "suspects 0", "lost 0 "), "suspects") {
		actors[1].says(t, "lost 0 ")
	}
}

// TestSuspect has a node speak that takes nothing. It echoes no beat, so it is suspected when
// the lease ends, on the clock that the heart is told.
func TestSuspect(t *testing.T) {
	t.Parallel()
	nodes := run(t, 2, func(o *Options) { o.Beat = time.Millisecond })
	entered, block := make(chan struct{}, 1), make(chan struct{})
	receive(t, nodes[1], func(int, []byte, []byte) error { entered <- struct{}{}; <-block; return nil })
	defer close(block)
	suspected := make(chan int, 10)
	nodes[0].OnSuspect(func(peer int) { suspected <- peer })
	if nodes[0].Suspected(0) || nodes[0].Suspected(1) || nodes[0].Suspected(2) {
		t.Error("a node suspects itself, or one that is in touch, or nobody")
	}
	if err := nodes[0].Send(1, 1, nil, nil, false); err != nil {
		t.Fatal(err)
	}
	await(t, entered, "the parcel")
	c := &nodes[0].peer(1).contact
	speaks := func() { // until a beat has come that node 1 sends from now on
		for now := nodes[1].now(); int64(c.Says(nodes[0].now()).Echo) < now; {
			await(t, time.After(time.Millisecond), "time")
		}
	}
	speaks() // the first one echoes what node 1 took last, and by the second that is noted
	speaks()
	echoed := c.Echoed()
	speaks()
	speaks()
	if c.Echoed() != echoed {
		t.Error("a node that takes nothing echoes a beat")
	}
	nodes[0].heart.holder(nodes[0].peer(1), echoed+int64(unhurried))
	if peer := await(t, suspected, "the suspicion"); peer != 1 {
		t.Errorf("node %d is suspected, want 1", peer)
	}
	if err := nodes[0].Lost(1); err != nil {
		t.Errorf("a node that speaks is lost: %v", err)
	}
}

// OnLoss also tells late observers of earlier losses. It tells each observer once of each loss.
func TestOnLossLater(t *testing.T) {
	t.Parallel()
	nodes := run(t, 3, nil)
	first := nodes[0].losses()
	closeAll(t, nodes[2])
	if err := await(t, first, "the loss"); !errors.Is(err, ErrLeft) || errors.Is(err, ErrLost) {
		t.Errorf("node 2 is gone by %v, want ErrLeft", err)
	}
	second := nodes[0].losses()
	if err := await(t, second, "the old loss"); !errors.Is(err, ErrLeft) {
		t.Errorf("node 2 is gone by %v, want ErrLeft", err)
	}
	closeAll(t, nodes[1])
	for _, lost := range []<-chan error{first, second} {
		var gone *PeerError
		if err := await(t, lost, "the loss"); !errors.As(err, &gone) || gone.Node != 1 {
			t.Errorf("%v, want that node 1 has left", err)
		}
	}
	if err := nodes[0].Lost(2); !errors.Is(err, ErrLeft) {
		t.Errorf("Lost(2) is %v, want ErrLeft", err)
	}
	if err := nodes[0].Send(2, 1, nil, nil, false); !errors.Is(err, ErrLeft) {
		t.Errorf("Send to it: %v, want ErrLeft", err)
	}
}
