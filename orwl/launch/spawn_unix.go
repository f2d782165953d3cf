//go:build unix

package launch

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"
)

// forwarded are the signals that go to the nodes. The last one makes Go programs print their
// goroutines, and orwl programs print which task waits for which.
var forwarded = []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT}

// Spawn starts the nodes of a run, node 0 first and the others when it has said where it listens.
// It returns when all have ended: nil if all ended well, else a [*NodeError] of the first that did
// not, or ctx's reason. A node that was killed comes before those that failed because they missed
// it. As soon as one node fails, or ctx ends, the others are asked to end, by SIGTERM, and killed
// after Run.Grace. If a node has said that the run goes on ([Place.GoOn]), a node that fails does
// not end the others: a line on Run.Stderr names it, and Run.Restarts may start it again. SIGINT,
// SIGTERM, SIGHUP and SIGQUIT meanwhile go to the nodes instead of to this process, and SIGUSR1
// starts one node more, if Run.Begin has left any. If this process dies they do not outlive it: on
// this machine Linux kills them, and elsewhere FromEnvironment has them end by SIGTERM, and be
// killed 5 s later. They read no input.
func Spawn(ctx context.Context, r Run) error {
	r, err := r.withDefaults()
	if err == nil {
		err = r.validate()
	}
	if err != nil {
		return err
	}
	// On Linux a process dies with the thread that started it, not with its parent.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()

	signals := make(chan os.Signal, 8)
	for _, s := range forwarded {
		if !signal.Ignored(s) { // nohup's ignored SIGHUP stays so
			signal.Notify(signals, s)
		}
	}
	if r.Begin < r.Nodes {
		signal.Notify(signals, syscall.SIGUSR1)
	}
	defer signal.Stop(signals)

	c := newCrew(r)
	defer c.close()
	c.begin()
	done := ctx.Done()
	for c.running > 0 || c.waits() {
		select {
		case said := <-c.reports:
			c.hear(said)
		case e := <-c.endings:
			c.bury(e)
		case s := <-signals:
			if s == syscall.SIGUSR1 {
				c.grow()
				continue
			}
			c.asked = c.asked || s != syscall.SIGQUIT
			c.signal(s.(syscall.Signal))
		case <-done:
			done = nil
			c.fail(context.Cause(ctx))
		case <-c.overdue:
			c.remind()
		case <-c.patience:
			c.kill()
		}
	}
	return c.failure
}

func signalNumber(s os.Signal) int {
	if s, ok := s.(syscall.Signal); ok {
		return int(s)
	}
	return 0
}

// crew is the nodes of a run, for the one goroutine that looks after them.
type crew struct {
	run     Run
	mu      sync.Mutex // guards the nodes' output
	members []*member
	running int

	reports   chan saying // of nodes; it has room for all of them
	following bool        // node 0 has said where it listens
	silent    bool        // node 0 has closed its end, and has not said where it listens
	headless  bool        // node 0 has ended
	goesOn    bool        // a node has said that the run goes on without lost nodes
	done      bool        // a node has said that the run has ended well

	latecomers

	progress *follower // nil: the nodes of this machine are not asked how far they are

	overdue <-chan time.Time // when the user is told that node 0 has not said where it listens

	endings  chan ending
	asked    bool             // a signal asks the run to end
	failure  error            // the reason for which the run ends
	patience <-chan time.Time // when the nodes that have not ended are killed
	killed   bool             // the nodes were killed once already
}

func newCrew(r Run) *crew {
	return &crew{
		run: r, endings: make(chan ending), reports: make(chan saying, (r.Nodes+r.Restarts)*(mostReports+1)),
		latecomers: latecomers{left: r.Restarts, at: make([]address, r.Nodes), started: r.Begin},
	}
}

// close lets go of the reports, which have no reader any more, and of how far the nodes are.
func (c *crew) close() {
	for _, m := range c.members {
		if m.report != nil {
			m.report.Close()
		}
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
	if c.run.Nodes > 1 {
		c.overdue = time.After(c.run.Patience)
	}
	c.start(seated{}, nil)
}

// waits reports whether node 0 is still expected to say where it listens.
func (c *crew) waits() bool {
	return c.run.Nodes > 1 && !c.following && !c.silent && c.failure == nil
}

// saying is a line that a node has said to the launcher, or that there will be no more.
type saying struct {
	by   *member
	line string
	last bool
}

// mostReports is how many lines a node says.
const mostReports = 3

// listens passes on what a node says by a pipe.
func (c *crew) listens(m *member) {
	lines := bufio.NewScanner(m.report)
	for range mostReports {
		if !lines.Scan() {
			break
		}
		c.reports <- saying{m, strings.TrimPrefix(lines.Text(), mark), false}
	}
	c.reports <- saying{m, "", true}
}

// hear takes what a node has said.
func (c *crew) hear(said saying) {
	m := said.by
	if said.last {
		if m.node == 0 && !c.following {
			c.silent = true
			c.missReport()
		}
		return
	}
	switch said.line {
	case ended:
		c.done, m.done = true, true
		return
	case goOn:
		c.goesOn = c.goesOn || m.in
		c.isIn(m)
		return
	}
	at, err := parseAddress(said.line, 0)
	if err != nil {
		return
	}
	c.locate(m, at)
	if m.node == 0 && !c.following {
		c.follow(at)
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
	c.note("launch: node 0 has not said where it listens for %v, and the other nodes wait for that: is it stopped, or busy before it joins?", c.run.Patience)
}

// catchUp hears what node 0 has already said.
func (c *crew) catchUp() {
	for {
		select {
		case said := <-c.reports:
			c.hear(said)
		default:
			return
		}
	}
}

// follow starts the other nodes, now that node 0 has said where it listens.
func (c *crew) follow(root address) {
	c.following = true
	root = c.dialled(0, root)
	for node := 1; node < c.run.Begin && c.failure == nil; node++ {
		c.start(seated{node: node, root: root}, nil)
	}
}

// dialled is where the other nodes connect to one that listens at an address.
func (c *crew) dialled(node int, at address) address {
	if c.run.Hosts == nil {
		return at.dialled(loopback)
	}
	return at.dialled(reached(c.run.host(node)))
}

// missReport fails if node 0 has ended and has not said where it listens. Only the end of node
// 0 makes this certain: the launcher may see the end before the report.
func (c *crew) missReport() {
	if c.silent && c.headless {
		c.fail(&NodeError{Host: c.run.host(0), Err: ErrNoReport})
	}
}

// start starts a node. before is why its life before has ended, nil for the first.
func (c *crew) start(s seated, before *NodeError) {
	m, err := c.member(s)
	if err != nil && s.peers != "" {
		c.note("launch: node %d cannot come late: %v", s.node, err)
		return
	}
	if err != nil {
		c.fail(&NodeError{Node: s.node, Host: c.run.host(s.node), Err: err})
		return
	}
	m.before, m.in = before, s.peers == ""
	c.members = append(c.members, m)
	c.running++
	heard := make(chan struct{}) // closed when all is heard that the node has said
	if m.report == nil {
		close(heard)
	} else {
		go func() {
			defer close(heard)
			c.listens(m)
		}()
	}
	go func() {
		reason := m.cmd.Wait()
		reason = errors.Join(reason, m.out.flush(), m.err.flush())
		if m.silence != nil {
			m.silence()
		}
		select {
		case <-heard:
		case <-time.After(c.run.Grace): // a process that it has started may still have its pipe
		}
		c.endings <- ending{m, reason}
	}()
}

// bury takes note of how a node has ended.
func (c *crew) bury(e ending) {
	c.running--
	e.ended = true
	e.lifeline.Close()
	c.catchUp()
	if failed := e.failure(); failed != nil {
		c.miss(e.member, failed)
	}
	if e.node == 0 {
		c.headless = true
		c.missReport()
	}
	c.retire()
}

// miss ends the run because a node has failed, unless the run goes on without it.
func (c *crew) miss(m *member, failed *NodeError) {
	switch {
	case !m.in && (c.asked || c.retired): // nobody waits for it
	case m.done: // the run has ended well, and the program has not
		c.fail(failed)
	case c.done && c.goesOn && c.failure == nil && !c.asked:
		c.note("%v; the run has ended well without it", failed)
	case !c.goesOn || c.asked || c.failure != nil || !c.lives():
		c.fail(failed)
		c.blame(failed)
	case c.left > 0:
		c.again(failed)
	default:
		c.note("%v; the others go on", failed)
	}
}

// note tells the user what has happened.
func (c *crew) note(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	fmt.Fprintf(c.run.Stderr, format+"\n", args...)
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

// blame makes a node the reason that a signal has ended which is not the launcher's. Another node
// may have failed because it missed this one, and the launcher may have seen that first.
func (c *crew) blame(failed *NodeError) {
	first, is := c.failure.(*NodeError)
	if is && first.Signal == nil && failed.Signal != nil && failed.Signal != syscall.SIGTERM && !c.killed && !c.asked {
		c.failure = failed
	}
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

// follower reads lines from a pipe whose writing end nodes inherit.
type follower struct {
	begin, end *os.File
	ended      chan struct{}
}

// follow makes the pipe, and gives each line to heed.
func follow(heed func(line string)) (*follower, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	f := &follower{begin: r, end: w, ended: make(chan struct{})}
	go func() {
		defer close(f.ended)
		for lines := bufio.NewScanner(r); lines.Scan(); {
			heed(strings.TrimPrefix(lines.Text(), mark))
		}
	}()
	return f, nil
}

// close ends it. A process that a node has left behind may still have the writing end.
func (f *follower) close() {
	if f == nil {
		return
	}
	f.end.Close()
	f.begin.Close()
	<-f.ended
}
