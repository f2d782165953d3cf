//go:build unix

package launch

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// member is a node that has been started.
type member struct {
	node     int
	host     string // "" is this machine
	cmd      *exec.Cmd
	lifeline *os.File // open while this process lives and has not lost interest
	out, err *lines
	report   *os.File // the pipe of its reports; nil over ssh, and if it has nothing to report
	silence  func()   // called when it can report no more, unless nil
	ended    bool
	done     bool       // it has said that the run has ended well
	in       bool       // it takes part in the run; false for a late process that has not come in yet
	before   *NodeError // how its former life has ended, or nil
}

// ending is how a node has ended, as Wait has it.
type ending struct {
	*member
	reason error
}

// member starts a node. It has the report if it reports, or says over ssh what would go there.
func (c *crew) member(s seated) (*member, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer r.Close() // the node has its own
	node := s.node
	m := &member{
		node:     node,
		host:     c.run.host(node),
		lifeline: w,
		out:      c.run.lines(&c.mu, c.run.Stdout, node),
		err:      c.run.lines(&c.mu, c.run.Stderr, node),
	}
	if c.run.Plain {
		m.out.prefix = nil
	}
	first := string(hex.AppendEncode(nil, c.run.Key)) + "\n"
	if m.host == "" {
		m.cmd = exec.Command(c.run.Program, c.run.Args...)
		m.cmd.Env = append(withoutOwn(os.Environ()), c.run.environment(s, descriptorsHere)...)
		var said *os.File
		if c.run.reports() {
			if m.report, said, err = os.Pipe(); err != nil {
				w.Close()
				return nil, err
			}
			defer said.Close() // the node has its own
		}
		m.cmd.ExtraFiles = []*os.File{lifelineFD - 3: r, reportFD - 3: said} // a node without a report gets a closed descriptor
		if c.progress != nil {
			m.cmd.ExtraFiles = append(m.cmd.ExtraFiles, c.progress.end)
		}
	} else {
		env := c.run.environment(s, descriptorsSSH)
		for _, name := range sameVariables {
			if value := os.Getenv(name); value != "" {
				env = append(env, name+"="+value)
			}
		}
		first = strings.Join(env, "\n") + "\n\n" + first
		if m.cmd, err = c.run.overSSH(m.host); err == nil {
			m.cmd.Stdin = r
		}
		said := mostReports // how many lines it has said; all, if it reports nothing
		if c.run.reports() {
			said = 0
			m.silence = func() { c.reports <- saying{m, "", true} }
		}
		m.err.reports = func(line string) {
			if strings.HasPrefix(line, progressWord) {
				c.heed(line)
			} else if said < mostReports { // no correct node says more
				said++
				c.reports <- saying{m, line, false}
			}
		}
	}
	if err == nil {
		m.cmd.Stdout, m.cmd.Stderr = m.out, m.err
		m.cmd.WaitDelay = c.run.Grace // for processes that it has started and that have its output
		m.cmd.SysProcAttr = attributes()
		_, err = w.WriteString(first) // the pipe has room for it
	}
	if err == nil {
		err = m.cmd.Start()
	}
	if err != nil {
		w.Close()
		if m.report != nil {
			m.report.Close()
		}
		return nil, err
	}
	return m, nil
}

// signal sends s to the node, over ssh by its lifeline, and otherwise also to what it has
// started.
func (m *member) signal(s syscall.Signal) {
	if m.host == "" {
		m.signalGroup(s)
		return
	}
	_, _ = m.lifeline.WriteString(strconv.Itoa(int(s)) + "\n") // it may end meanwhile
}

// signalGroup sends s to the process that has been started, and to what that has started.
func (m *member) signalGroup(s syscall.Signal) {
	if m.cmd.Process.Signal(syscall.Signal(0)) == nil { // it was not waited for: the number is still its own
		syscall.Kill(-m.cmd.Process.Pid, s) // it may end meanwhile
	}
}

// failure is what was wrong with an ending, or nil.
func (e ending) failure() *NodeError {
	failed := &NodeError{Node: e.node, Host: e.host}
	status, ok := e.cmd.ProcessState.Sys().(syscall.WaitStatus)
	switch failed.Code = e.cmd.ProcessState.ExitCode(); {
	case ok && status.Signaled():
		failed.Signal = status.Signal()
	case e.host != "" && failed.Code == codeSSH:
		failed.Err = errSSH
	case failed.Code != 0:
	case e.reason != nil && !errors.Is(e.reason, exec.ErrWaitDelay):
		failed.Err = e.reason
	default:
		return nil
	}
	return failed
}

// errSSH is a code that ssh ends with for its own reasons, and for a remote signal.
var errSSH = errors.New("ssh ended with code 255: its connection failed, or a signal ended the node: " +
	"try ssh -o BatchMode=yes HOST true, which must ask for nothing")

const codeSSH = 255

// shell has the node's environment come over the input, a variable a line, so that it is in
// no list of processes. Behind an empty line begins the node's lifeline. If the input
// ends before, so does the shell.
const shell = `while IFS= read -r pair; do [ -n "$pair" ] || exec "$@"; export "$pair"; done; exit 1`

// login is the command that runs ssh, ORWL_SSH or ssh.
func login() []string {
	if words := strings.Fields(os.Getenv(envSSH)); len(words) > 0 {
		return words
	}
	return []string{"ssh"}
}

// overSSH is the command that runs a program on a host, in a folder that has the path of the
// current one. ssh notices after 15 s that a host does not answer.
func (r *Run) overSSH(host string) (*exec.Cmd, error) {
	folder, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	remote := []string{"exec", "sh", "-c", quote("cd " + quote(folder) + " || exit; " + shell), "sh", quote(r.Program)}
	for _, arg := range r.Args {
		remote = append(remote, quote(arg))
	}
	words := append(login(), "-T", "-o", "BatchMode=yes", "-o", "ServerAliveInterval=5", "-o", "ServerAliveCountMax=3",
		host, strings.Join(remote, " "))
	return exec.Command(words[0], words[1:]...), nil
}

// quote makes one word of a text, for a shell.
func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// reached is where other hosts reach one: ssh may know it by another name.
func reached(host string) string {
	words := append(login(), "-G", host)
	out, _ := exec.Command(words[0], words[1:]...).Output() // an ssh that has no -G has no other names, either
	for line := range bytes.Lines(out) {
		if name, is := strings.CutPrefix(strings.TrimSpace(string(line)), "hostname "); is {
			return name
		}
	}
	return hostOf(host)
}

// A process inherits the reading end of a pipe from Spawn, the lifeline, and the writing
// end of another, the report. Over ssh these are its standard input and its standard error.
//
// The lifeline brings the cluster key in hexadecimal, in one line. A line after that is the
// number of a signal that the process sends to itself. When the lifeline is cut, the process
// that held its other end is gone.
//
// The report takes up to three lines, each behind a mark: where the node listens, and later, if the run
// goes on without nodes that are lost, the words goOn. A node that comes back says these when it is in. If the run has ended well
// on the node, the last line says so.
//
// If the launcher wants to know how far the nodes are, all of them inherit the writing end of one
// more pipe, or have their standard error over ssh. It takes a line behind a mark for each
// [Progress].

const (
	goOn  = "go on"
	ended = "ended well"
)

// inheritedKey takes the lifeline, once, and returns the key that came with it.
var inheritedKey = sync.OnceValues(func() ([]byte, error) {
	lifeline, err := inheritedPipe(envLifeline)
	if err != nil {
		return nil, err
	}
	in := bufio.NewReader(lifeline)
	line, err := in.ReadString('\n')
	if err != nil {
		return nil, mistake(envLifeline, "brings no key: %w: the process that started this one is gone", err)
	}
	key, err := hex.DecodeString(strings.TrimSuffix(line, "\n"))
	if err != nil {
		return nil, mistake(envLifeline, "brings no key: %w", err)
	}
	go heed(in)
	return key, nil
})

// heed sends this process the signals that the lifeline brings, and ends it when the lifeline
// is cut.
func heed(lifeline io.Reader) {
	self := syscall.Getpid()
	for lines := bufio.NewScanner(lifeline); lines.Scan(); { // whatever ends it
		if s, err := strconv.Atoi(lines.Text()); err == nil {
			syscall.Kill(self, syscall.Signal(s))
		}
	}
	syscall.Kill(self, syscall.SIGTERM)
	time.Sleep(defaultGrace)
	syscall.Kill(self, syscall.SIGKILL)
}

// reportEnd takes the report pipe, once. Standard error is also the program's.
var reportEnd = sync.OnceValues(func() (*os.File, error) { return launchersEnd(envReport) })

// progressEnd takes the pipe for progress, once.
var progressEnd = sync.OnceValues(func() (*os.File, error) { return launchersEnd(envProgress) })

// launchersEnd is where a variable says that the launcher listens.
func launchersEnd(variable string) (*os.File, error) {
	if os.Getenv(variable) == strconv.Itoa(errorFD) {
		return os.Stderr, nil
	}
	return inheritedPipe(variable)
}

// reported is set when this process has said where it listens.
var reported atomic.Bool

// report says where this process listens.
func report(address string) error {
	at, err := parseAddress(address, 0)
	if err != nil || at.port == 0 {
		return fmt.Errorf("launch: cannot report %q: want the host:port that this node listens on", address)
	}
	if reported.Swap(true) {
		return errors.New("launch: this node has reported where it listens: it can do so once")
	}
	return say(reportEnd, at.String())
}

// reportGoOn says that the run goes on without nodes that are lost.
var reportGoOn = sync.OnceValue(func() error { return say(reportEnd, goOn) })

// reportDone says that the run has ended well.
func reportDone() error { return say(reportEnd, ended) }

// reportProgress says how far this node is.
func reportProgress(node int, p Progress) error { return say(progressEnd, p.line(node)) }

// say writes a line to the launcher, in one piece.
func say(end func() (*os.File, error), line string) error {
	to, err := end()
	if err == nil {
		_, err = io.WriteString(to, mark+line+"\n")
	}
	return err
}

// inheritedPipe is the pipe whose descriptor is in a variable. It does not touch a descriptor
// that is no such pipe: another part of the process owns it if a program in between has closed
// the pipe.
func inheritedPipe(variable string) (*os.File, error) {
	text := os.Getenv(variable)
	fd, err := strconv.Atoi(text)
	var stat syscall.Stat_t
	if err == nil && fd >= 0 {
		err = syscall.Fstat(fd, &stat)
	}
	kind := uint32(stat.Mode) & syscall.S_IFMT
	if err != nil || fd < 0 || kind != syscall.S_IFIFO && (kind != syscall.S_IFSOCK || fd != inputFD) { // some sshd have sockets
		return nil, mistake(variable, "is %q, which is no pipe here: have the program itself started, not one that starts it and closes what it inherits, such as go run", text)
	}
	syscall.CloseOnExec(fd)
	if err := syscall.SetNonblock(fd, true); err != nil { // a goroutine waits for it, not a thread
		return nil, mistake(variable, "is %q: %w", text, err)
	}
	return os.NewFile(uintptr(fd), variable), nil
}

// checkPrivate refuses a file that others may read, change or replace by writing. A
// group may read it: that is how Kubernetes hands a Secret to a program that is not root.
func checkPrivate(info fs.FileInfo) error {
	const others, groupWrites = 0o007, 0o020
	if mode := info.Mode().Perm(); mode&(others|groupWrites) != 0 {
		return fmt.Errorf("its mode is %04o, so it is not secret: chmod 600 it, and make a new key if another user may have read it", mode)
	}
	return nil
}

// latecomers are nodes that come late: those that have failed in a run that goes on, and those that
// did not begin.
//
//	in ──fails──▶ unplaced ──where all nodes are is known──▶ asks ──says goOn──▶ in
//	free ──grow──▶ unplaced
//
// When no node is in any more, processes that ask are ended: there is no run to come to.
type latecomers struct {
	left     int       // how many processes may still be started in the place of others
	started  int       // numbers that are not free
	at       []address // where the nodes listen, in their last lives
	unplaced []latecomer
	retired  bool // a process that asks must end
}

// latecomer is a node that is not started yet. before is how its life before has ended, or nil.
type latecomer struct {
	node   int
	before *NodeError
}

// again starts a node again, as soon as each node has said where it listens.
func (c *crew) again(failed *NodeError) {
	c.left--
	c.note("%v; it is started again, and the others go on", failed)
	c.unplaced = append(c.unplaced, latecomer{failed.Node, failed})
	c.place()
}

// grow starts the node of the next free number, as again does.
func (c *crew) grow() {
	if c.started == c.run.Nodes {
		c.note("launch: all %d nodes have been started", c.run.Nodes)
		return
	}
	c.unplaced = append(c.unplaced, latecomer{node: c.started})
	c.started++
	c.place()
}

// place starts the nodes that wait for addresses, if all are known and there is a run.
func (c *crew) place() {
	if len(c.unplaced) == 0 || c.failure != nil || !c.lives() {
		return
	}
	peers := make([]string, c.run.Nodes)
	for node, at := range c.at {
		switch {
		case at != address{}:
			peers[node] = c.dialled(node, at).String()
		case c.expects(node):
			return
		}
	}
	unplaced := c.unplaced
	c.unplaced = nil
	for _, w := range unplaced {
		c.start(seated{node: w.node, peers: strings.Join(peers, ",")}, w.before)
	}
}

// expects reports whether a process runs that has this number.
func (c *crew) expects(node int) bool {
	return slices.ContainsFunc(c.members, func(m *member) bool { return m.node == node && !m.ended })
}

// locate notes where a node listens.
func (c *crew) locate(m *member, at address) {
	c.at[m.node] = at
	c.place()
}

// isIn notes that a node is in the run.
func (c *crew) isIn(m *member) {
	if m.in {
		return
	}
	m.in = true
	if m.before == nil {
		c.note("launch: node %d has come", m.node)
	} else {
		c.note("launch: node %d has come back", m.node)
	}
}

// lives reports whether a node is in the run.
func (c *crew) lives() bool {
	for _, m := range c.members {
		if m.in && !m.ended {
			return true
		}
	}
	return false
}

// retire ends processes that ask to join a run that is over.
func (c *crew) retire() {
	if c.running == 0 || c.retired || c.failure != nil || c.lives() {
		return
	}
	c.retired = true
	c.signal(syscall.SIGTERM)
	c.patience = time.After(c.run.Grace)
}
