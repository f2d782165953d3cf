package orwl

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/orwl/go-orwl/internal/netns"
	"github.com/orwl/go-orwl/internal/queue"
)

// chaosPatience ends a test that hangs. No test depends on it.
const chaosPatience = 5 * time.Minute

// chaosCrew is the processes of a run, as the test sees them, and all their notes.
type chaosCrew struct {
	t     testing.TB
	nodes []*process
	hosts *netns.Network // on which they are, each on its own; nil: all are on this one
	lease time.Duration

	mu    sync.Mutex
	moved chan struct{} // closed when there is another note
	notes []said
}

// said is a note and its node.
type said struct {
	by int
	note
}

type process struct {
	cmd *exec.Cmd
	in  io.WriteCloser
}

// muster starts the processes of a run, and returns when their tasks run.
func muster(t testing.TB, lease time.Duration, play string, nodes int, seed uint64) *chaosCrew {
	return musterOn(t, nil, lease, play, nodes, seed)
}

// musterOn is muster with a host for each process.
func musterOn(t testing.TB, hosts *netns.Network, lease time.Duration, play string, nodes int, seed uint64) *chaosCrew {
	c := &chaosCrew{t: t, hosts: hosts, lease: lease, moved: make(chan struct{})}
	root := ""
	for i := range nodes {
		p := part{Play: play, Node: i, Nodes: nodes, Root: root, Seed: seed, Lease: lease}
		if hosts != nil {
			p.Listen = hosts.Address(i) + ":0"
		}
		c.start(p)
		if i == 0 {
			root = c.await("the address of node 0", func(n said) bool { return n.What == "address" }).Text
		}
	}
	for i := range nodes {
		c.await(fmt.Sprintf("the tasks of node %d", i), func(n said) bool { return n.by == i && n.What == "round" })
	}
	return c
}

func (c *chaosCrew) start(p part) {
	t := c.t
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	o := &process{cmd: exec.Command(self)}
	if c.hosts != nil {
		o.cmd = c.hosts.Command(p.Node, self)
	}
	o.cmd.Env = append(os.Environ(), partVariable+"="+string(text),
		"GORACE="+os.Getenv("GORACE")+" atexit_sleep_ms=0") // the race detector's default is a second
	o.cmd.Stderr = os.Stderr
	o.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if o.in, err = o.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	// A pipe of our own: the command's Wait would close its own pipe before all is
	// read.
	out, theirs, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	o.cmd.Stdout = theirs
	if err := o.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	theirs.Close()
	c.nodes = append(c.nodes, o)
	read := make(chan struct{})
	go func() {
		defer close(read)
		c.listen(p.Node, out)
	}()
	t.Cleanup(func() {
		_ = o.cmd.Process.Kill()
		_ = o.cmd.Wait()
		<-read
		out.Close()
	})
}

// listen takes the notes of a node.
func (c *chaosCrew) listen(by int, out io.Reader) {
	for in := json.NewDecoder(out); ; {
		n := said{by: by}
		if err := in.Decode(&n.note); err != nil {
			return
		}
		c.mu.Lock()
		c.notes = append(c.notes, n)
		close(c.moved)
		c.moved = make(chan struct{})
		c.mu.Unlock()
	}
}

// await returns the first note of a kind, and waits for it.
func (c *chaosCrew) await(what string, is func(said) bool) said {
	c.t.Helper()
	late := time.NewTimer(chaosPatience)
	defer late.Stop()
	for from := 0; ; {
		c.mu.Lock()
		notes, moved := c.notes, c.moved
		c.mu.Unlock()
		for ; from < len(notes); from++ {
			if is(notes[from]) {
				return notes[from]
			}
		}
		select {
		case <-moved:
		case <-late.C:
			last := notes[max(0, len(notes)-40):]
			for _, n := range last {
				c.t.Logf("node %d: %+v", n.by, n.note)
			}
			c.t.Fatalf("%s did not come", what)
		}
	}
}

// all are the notes so far.
func (c *chaosCrew) all() []said {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.notes)
}

func (c *chaosCrew) command(node int, format string, args ...any) {
	if _, err := fmt.Fprintf(c.nodes[node].in, format+"\n", args...); err != nil {
		c.t.Fatalf("node %d does not listen: %v", node, err)
	}
}

// hold makes an actor of a node request a resource. It returns when the request is
// granted, or with "call" when the actor is about to request.
func (c *chaosCrew) hold(node, at int, m queue.Mode, only string) said {
	c.command(node, "hold %d %d", at, m)
	return c.await(fmt.Sprintf("node %d, which is to %s %s: %q", node, m, name(at), only), func(n said) bool {
		return n.by == node && n.Actor && n.At0 == at && n.Mode == uint8(m) && n.What == only
	})
}

// signal sends a signal to a process, and returns the time.
func (c *chaosCrew) signal(node int, s syscall.Signal) int64 {
	if err := c.nodes[node].cmd.Process.Signal(s); err != nil {
		c.t.Fatal(err)
	}
	return clock()
}

// served waits until clients of a node were served several times, by requests made
// after some time.
func (c *chaosCrew) served(node, at int, after int64) {
	c.t.Helper()
	called := make(map[uint64]bool)
	left := 3
	c.await(fmt.Sprintf("service of node %d at %s", node, name(at)), func(n said) bool {
		if n.by != node || n.At0 != at || n.At < after {
			return false
		}
		switch n.What {
		case "call":
			called[n.Op] = true
		case "done":
			if called[n.Op] && n.Verdict == served {
				left--
			}
		}
		return left == 0
	})
}

// ended waits for a node's run to end, and for its process to.
func (c *chaosCrew) ended(node int) said {
	c.t.Helper()
	n := c.await(fmt.Sprintf("the end of node %d", node), func(n said) bool { return n.by == node && n.What == "ended" })
	err := c.nodes[node].cmd.Wait()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		c.t.Errorf("node %d: %v", node, err)
	}
	return n
}
