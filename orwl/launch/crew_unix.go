//go:build unix

package launch

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"
)

// crew is the nodes of a run, for the one goroutine that looks after them.
type crew struct {
	run     Run
	mu      sync.Mutex // of what the nodes write
	members []*member
	running int

	report    *os.File      // what node 0 says comes here, or
	overSSH   chan<- string // between other lines,
	reports   <-chan string // and from here, line by line; nil when it can say no more
	following bool          // node 0 has said where it listens
	silent    bool          // node 0 has closed its end, and has not said it
	headless  bool          // node 0 has ended
	goesOn    bool          // node 0 has said that the run goes on without lost nodes

	progress *follower // nil: the nodes of this machine are not asked how far they are

	overdue <-chan time.Time // when the user is told that node 0 has not said it

	endings  chan ending
	asked    bool             // a signal asks the run to end
	lost     *NodeError       // the first node without which the run goes on
	failure  error            // what ends the run
	patience <-chan time.Time // when that is not waited for any more
	killed   bool             // nor was it the first time
}

func newCrew(r Run) *crew { return &crew{run: r, endings: make(chan ending)} }

// close lets go of the report, which has no reader any more, and of how far the nodes are.
func (c *crew) close() {
	if c.report != nil {
		c.report.Close()
	}
	c.progress.close()
}

// begin starts node 0, and listens for where it does.
func (c *crew) begin() {
	if c.run.Progress != nil && c.run.Hosts == nil {
		var err error
		if c.progress, err = follow(c.heed); err != nil {
			c.fail(err)
			return
		}
	}
	if c.run.Nodes == 1 {
		c.start(0, address{}, nil)
		return
	}
	c.overdue = time.After(c.run.Patience)
	reports := make(chan string, 2) // node 0 says no more than two lines
	c.reports = reports
	if c.run.Hosts != nil {
		c.overSSH = reports
		c.start(0, address{}, nil)
		return
	}
	r, w, err := os.Pipe()
	if err != nil {
		c.fail(err)
		return
	}
	defer w.Close() // node 0 has its own
	c.report = r
	c.start(0, address{}, w)
	go func() {
		defer close(reports)
		lines := bufio.NewScanner(r)
		for range cap(reports) {
			if !lines.Scan() {
				return
			}
			reports <- strings.TrimPrefix(lines.Text(), mark)
		}
	}()
}

// waits reports whether node 0 is still expected to say where it listens.
func (c *crew) waits() bool { return c.reports != nil && !c.following && c.failure == nil }

// hear takes a line that node 0 has said, or that there will be no more.
func (c *crew) hear(line string, open bool) {
	if !open {
		c.reports, c.silent = nil, !c.following
		c.missReport()
		return
	}
	if line == goOn {
		c.goesOn = true
		return
	}
	if root, err := parseAddress(line, 0); err == nil && !c.following {
		c.follow(root)
	}
}

// heed takes a line of a node that says how far it is.
func (c *crew) heed(line string) {
	if node, done, ok := parseProgress(line); ok && node < c.run.Nodes {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.run.Progress(node, done)
	}
}

// remind says why nothing happens, if node 0 has not said where it listens.
func (c *crew) remind() {
	if !c.waits() {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	fmt.Fprintf(c.run.Stderr, "launch: node 0 has not said where it listens for %v, and the other nodes wait for that: is it stopped, or busy before it joins?\n", c.run.Patience)
}

// catchUp hears what node 0 has already said.
func (c *crew) catchUp() {
	for {
		select {
		case line, open := <-c.reports:
			c.hear(line, open)
		default:
			return
		}
	}
}

// follow starts the other nodes, now that node 0 has said where it listens.
func (c *crew) follow(root address) {
	c.following = true
	machine := loopback
	if c.run.Hosts != nil {
		machine = reached(c.run.host(0))
	}
	root = root.dialled(machine)
	for node := 1; node < c.run.Nodes && c.failure == nil; node++ {
		c.start(node, root, nil)
	}
}

// missReport fails if node 0 has ended and has not said where it listens. Only the end of node
// 0 makes this certain: the launcher may see the end before the report.
func (c *crew) missReport() {
	if c.silent && c.headless {
		c.fail(&NodeError{Host: c.run.host(0), Err: ErrNoReport})
	}
}

// start starts a node.
func (c *crew) start(node int, root address, report *os.File) {
	m, err := c.member(node, root, report)
	if err != nil {
		c.fail(&NodeError{Node: node, Host: c.run.host(node), Err: err})
		return
	}
	c.members = append(c.members, m)
	c.running++
	go func() {
		reason := m.cmd.Wait()
		reason = errors.Join(reason, m.out.flush(), m.err.flush())
		if m.silence != nil {
			m.silence()
		}
		c.endings <- ending{m, reason}
	}()
}

// bury takes note of how a node has ended.
func (c *crew) bury(e ending) {
	c.running--
	e.lifeline.Close()
	c.catchUp()
	if failed := e.failure(); failed != nil {
		c.miss(failed)
	}
	if e.node == 0 {
		c.headless = true
		c.missReport()
	}
}

// miss ends the run because a node has failed, unless the run goes on without it.
func (c *crew) miss(failed *NodeError) {
	if !c.goesOn || c.asked || c.failure != nil || c.running == 0 {
		c.fail(failed)
		return
	}
	if c.lost == nil {
		c.lost = failed
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	fmt.Fprintf(c.run.Stderr, "%v; the others go on\n", failed)
}

// outcome is what became of the run, when all nodes have ended.
func (c *crew) outcome() error {
	if c.failure == nil && c.lost != nil {
		c.lost.Survived = true
		return c.lost
	}
	return c.failure
}

// fail ends the run because of err, if nothing has yet.
func (c *crew) fail(err error) {
	if c.failure != nil {
		return
	}
	c.failure = err
	c.signal(syscall.SIGTERM)
	c.patience = time.After(c.run.Grace)
}

// signal sends s to all nodes that run.
func (c *crew) signal(s syscall.Signal) {
	for _, m := range c.members {
		m.signal(s)
	}
}

// kill ends what has not ended in time: first the nodes, and if that does not help, because a
// host does not answer, the connections to them.
func (c *crew) kill() {
	if c.killed {
		for _, m := range c.members {
			m.signalGroup(syscall.SIGKILL)
		}
		return
	}
	c.killed = true
	c.signal(syscall.SIGKILL)
	c.patience = time.After(c.run.Grace)
}
