//go:build unix

package launch

import (
	"bufio"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
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

	report    *os.File      // what node 0 says comes here
	reports   <-chan string // and from here, line by line; nil when it can say no more
	following bool          // node 0 has said where it listens
	silent    bool          // node 0 has closed its end, and has not said it
	headless  bool          // node 0 has ended
	goesOn    bool          // node 0 has said that the run goes on without lost nodes

	endings  chan ending
	asked    bool             // a signal asks the run to end
	lost     *NodeError       // the first node without which the run goes on
	failure  error            // what ends the run
	patience <-chan time.Time // when that is not waited for any more
}

// member is a node.
type member struct {
	node     int
	cmd      *exec.Cmd
	lifeline *os.File // open while this process lives and has not lost interest
	out, err *lines
}

// ending is how a node has ended, as Wait has it.
type ending struct {
	*member
	reason error
}

func newCrew(r Run) *crew { return &crew{run: r, endings: make(chan ending)} }

// close lets go of the report, which has no reader any more.
func (c *crew) close() {
	if c.report != nil {
		c.report.Close()
	}
}

// begin starts node 0, and listens for where it does.
func (c *crew) begin() {
	if c.run.Nodes == 1 {
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
	reports := make(chan string, 2) // node 0 says no more than two lines
	c.reports = reports
	go func() {
		defer close(reports)
		lines := bufio.NewScanner(r)
		for range cap(reports) {
			if !lines.Scan() {
				return
			}
			reports <- lines.Text()
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
	for node := 1; node < c.run.Nodes && c.failure == nil; node++ {
		c.start(node, root.dialled(), nil)
	}
}

// missReport fails if node 0 has ended and has not said where it listens. Only the end of node
// 0 makes this certain: the launcher may see the end before the report.
func (c *crew) missReport() {
	if c.silent && c.headless {
		c.fail(&NodeError{Node: 0, Err: ErrNoReport})
	}
}

// start starts a node.
func (c *crew) start(node int, root address, report *os.File) {
	r, w, err := os.Pipe()
	if err != nil {
		c.fail(&NodeError{Node: node, Err: err})
		return
	}
	defer r.Close() // the node has its own
	m := &member{
		node:     node,
		cmd:      exec.Command(c.run.Program, c.run.Args...),
		lifeline: w,
		out:      c.run.lines(&c.mu, c.run.Stdout, node),
		err:      c.run.lines(&c.mu, c.run.Stderr, node),
	}
	m.cmd.Env = c.run.environment(node, root)
	m.cmd.Stdout, m.cmd.Stderr = m.out, m.err
	m.cmd.WaitDelay = c.run.Grace // for what it has started and that has its output
	m.cmd.SysProcAttr = attributes()
	m.cmd.ExtraFiles = []*os.File{lifelineFD - 3: r}
	if report != nil {
		m.cmd.ExtraFiles = append(m.cmd.ExtraFiles, report)
	}
	_, err = w.Write(append(hex.AppendEncode(nil, c.run.Key), '\n')) // the pipe has room for it
	if err == nil {
		err = m.cmd.Start()
	}
	if err != nil {
		w.Close()
		c.fail(&NodeError{Node: node, Err: err})
		return
	}
	c.members = append(c.members, m)
	c.running++
	go func() {
		reason := m.cmd.Wait()
		reason = errors.Join(reason, m.out.flush(), m.err.flush())
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

// failure is what was wrong with an ending, or nil.
func (e ending) failure() *NodeError {
	status, ok := e.cmd.ProcessState.Sys().(syscall.WaitStatus)
	switch {
	case ok && status.Signaled():
		return &NodeError{Node: e.node, Code: -1, Signal: status.Signal()}
	case e.cmd.ProcessState.ExitCode() != 0:
		return &NodeError{Node: e.node, Code: e.cmd.ProcessState.ExitCode()}
	case e.reason != nil && !errors.Is(e.reason, exec.ErrWaitDelay):
		return &NodeError{Node: e.node, Err: e.reason}
	}
	return nil
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

// signal sends s to all nodes that run, and to what they have started.
func (c *crew) signal(s syscall.Signal) {
	for _, m := range c.members {
		if m.cmd.Process.Signal(syscall.Signal(0)) == nil { // not yet waited for: the number is still its own
			syscall.Kill(-m.cmd.Process.Pid, s) // it may end meanwhile
		}
	}
}
