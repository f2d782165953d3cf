package launch

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/orwl/go-orwl/internal/terminal"
)

// Run is what Spawn starts: the nodes of a run, which are processes of this machine, or of
// others over ssh.
type Run struct {
	// Nodes is how many, 1 to 4096.
	Nodes int
	// Hosts are the hosts of the nodes, as ssh knows them: [HOST] or [USER@HOST]. Each gets as
	// many nodes as the others, or one more. Program and the current folder have the same path
	// on each. ssh must not ask for anything: it needs a key, and must know the hosts'. Without
	// Hosts the nodes are processes of this machine.
	Hosts []string
	// Program is what each runs, found as [os/exec.Command] finds it, and Args are
	// what it is called with.
	Program string
	Args    []string
	// Env is added to this process's environment, as NAME=VALUE. Over ssh it is added to the
	// host's environment, and travels encrypted. The nodes do not get the variables of an outer run,
	// such as ORWL_NODE.
	Env []string
	// Stdout and Stderr get the nodes' output, line by line, each line behind the number of its
	// node and the host if there are some: "[3] " or "[3 host2] ". By default they are this
	// process's own. One of them is written to at a time. If Stderr is a terminal, or has a method
	// Under() io.Writer that returns one, the nodes log for people, and otherwise in JSON.
	Stdout, Stderr io.Writer
	// Plain omits the number before the lines of node 0, and before all that goes to Stdout. It is for a program where one
	// node prints the result: node 0, unless that is lost.
	Plain bool
	// Key is the cluster key; a new one by default. It is in no argument and in no
	// variable of any node.
	Key []byte
	// Listen is where node 0 listens, as host:port; by default 127.0.0.1:0, and over ssh port
	// ORWL_PORT of all interfaces, or any if that is not set.
	Listen string
	// Patience is after how long Spawn says that the other nodes wait for node 0, which has
	// not said where it listens: it may be stopped. 30 s by default.
	Patience time.Duration
	// Begin is how many nodes begin the run; by default ORWL_BEGIN, or all. Each SIGUSR1 has Spawn
	// start the process of one number more, which comes late: see [Place.Late].
	Begin int
	// Restarts is how many processes, in all, are started in the place of nodes that have failed,
	// in a run that goes on without them: see [Place.Late]. A run in which all have come back, and
	// ended well, has ended well. By default it is ORWL_RESTARTS, or none.
	Restarts int
	// Progress is called with what a node says of how far it is ([Place.Progress]), unless it is
	// nil. While it runs, none of Stdout and Stderr is written to. It is not called any more when
	// Spawn has returned.
	Progress func(node int, done Progress)
	// Grace is for how long a node may go on after it has been asked to end, before
	// it is killed; 5 s by default.
	Grace time.Duration
}

// The bounds and defaults of a Run.
const (
	mostSpawned     = 4096
	mostRestarts    = 1 << 16
	defaultGrace    = 5 * time.Second
	defaultPatience = 30 * time.Second
)

func (r Run) withDefaults() (Run, error) {
	if r.Restarts == 0 {
		var err error
		if r.Restarts, _, err = (surroundings{getenv: os.Getenv}).number(envRestarts, 0, mostRestarts); err != nil {
			return r, err
		}
	}
	if r.Begin == 0 {
		var err error
		if r.Begin, err = (surroundings{getenv: os.Getenv}).begin(r.Nodes); err != nil {
			return r, err
		}
	}
	if r.Stdout == nil {
		r.Stdout = os.Stdout
	}
	if r.Stderr == nil {
		r.Stderr = os.Stderr
	}
	if r.Key == nil {
		r.Key = NewKey()
	}
	if r.Listen == "" && r.Hosts == nil {
		r.Listen = loopback + ":0"
	} else if r.Listen == "" {
		r.Listen = anywhere + ":" + cmp.Or(os.Getenv(envPort), "0")
	}
	if r.Grace == 0 {
		r.Grace = defaultGrace
	}
	if r.Patience == 0 {
		r.Patience = defaultPatience
	}
	return r, nil
}

func (r *Run) validate() error {
	if r.Nodes < 1 || r.Nodes > mostSpawned {
		return fmt.Errorf("%w: Run.Nodes is %d: want 1 to %d", ErrOptions, r.Nodes, mostSpawned)
	}
	if r.Program == "" {
		return fmt.Errorf("%w: Run.Program is empty: name what the nodes run", ErrOptions)
	}
	if len(r.Key) < leastKey || len(r.Key) > mostKey {
		return fmt.Errorf("%w: Run.Key has %d bytes: want %d to %d, as NewKey makes them", ErrOptions, len(r.Key), leastKey, mostKey)
	}
	if _, err := parseAddress(r.Listen, 0); err != nil {
		return fmt.Errorf("%w: Run.Listen is %q: %w: want host:port", ErrOptions, r.Listen, err)
	}
	if r.Hosts != nil {
		if err := r.validateHosts(); err != nil {
			return err
		}
	}
	if r.Grace < 0 {
		return fmt.Errorf("%w: Run.Grace is %v: want more than 0", ErrOptions, r.Grace)
	}
	if r.Restarts < 0 || r.Restarts > mostRestarts {
		return fmt.Errorf("%w: Run.Restarts is %d: want 0 to %d", ErrOptions, r.Restarts, mostRestarts)
	}
	if r.Begin < 1 || r.Begin > r.Nodes {
		return fmt.Errorf("%w: Run.Begin is %d: want 1 to %d", ErrOptions, r.Begin, r.Nodes)
	}
	if r.Patience < 0 {
		return fmt.Errorf("%w: Run.Patience is %v: want more than 0", ErrOptions, r.Patience)
	}
	return nil
}

// seated is what a node is told of its place. The root is where node 0 listens, once that is known.
type seated struct {
	node  int
	root  address
	peers string // where all nodes are, for one that comes late
}

// reports reports whether nodes say where they listen.
func (r *Run) reports() bool { return r.Nodes > 1 }

// environment is what a node finds in its environment besides what is there.
func (r *Run) environment(s seated, at descriptors) []string {
	env := append(withoutOwn(r.Env),
		envNode+"="+strconv.Itoa(s.node),
		envNodes+"="+strconv.Itoa(r.Nodes),
		envLifeline+"="+strconv.Itoa(at.lifeline))
	if r.Begin < r.Nodes {
		env = append(env, envBegin+"="+strconv.Itoa(r.Begin))
	}
	if r.Progress != nil {
		env = append(env, envProgress+"="+strconv.Itoa(at.progress))
	}
	if terminal.IsSeen(r.Stderr) {
		env = append(env, envTerminal+"=1")
	}
	if r.reports() {
		env = append(env, envReport+"="+strconv.Itoa(at.report))
	}
	switch {
	case s.peers != "":
		env = append(env, envPeers+"="+s.peers, envLate+"=1")
	case s.node != 0:
		env = append(env, envRoot+"="+s.root.String())
	case r.Nodes > 1:
		env = append(env, envListen+"="+r.Listen)
	}
	return env
}

// withoutOwn leaves out what places a process in a run.
func withoutOwn(env []string) (left []string) {
	for _, pair := range env {
		if name, _, _ := strings.Cut(pair, "="); !isOwn(name) {
			left = append(left, pair)
		}
	}
	return left
}

func isOwn(name string) bool {
	for _, own := range ownVariables {
		if name == own {
			return true
		}
	}
	return false
}

// descriptors are the files by which a node and its launcher know of each other.
type descriptors struct{ lifeline, report, progress int }

// They are pipes behind the standard ones, or over ssh two of these.
const (
	inputFD    = 0
	errorFD    = 2
	lifelineFD = 3
	reportFD   = 4
	progressFD = 5
)

var (
	descriptorsHere = descriptors{lifelineFD, reportFD, progressFD}
	descriptorsSSH  = descriptors{inputFD, errorFD, errorFD}
)

// NodeError is the first node of a run that failed, and how. The others were ended after it.
type NodeError struct {
	Node int
	// Host is where it was, if over ssh.
	Host string
	// Code is the code that it exited with, or -1 if a signal ended it.
	Code int
	// Signal ended it, unless it is nil.
	Signal os.Signal
	// Err is what else was wrong with it, or nil.
	Err error
}

func (e *NodeError) Error() string {
	text := fmt.Sprintf("launch: node %d", e.Node)
	if e.Host != "" {
		text += " on " + e.Host
	}
	switch {
	case e.Err != nil:
		text += fmt.Sprintf(": %v", e.Err)
	case e.Signal != nil:
		text += fmt.Sprintf(" was ended by a signal: %v", e.Signal)
	default:
		text += fmt.Sprintf(" exited with code %d", e.Code)
	}
	return text
}

func (e *NodeError) Unwrap() error { return e.Err }

// ExitCode is the code with which a process ends that speaks for the run: the node's,
// or 128 and the number of the signal, as shells have it, or 1.
func (e *NodeError) ExitCode() int {
	switch {
	case e.Signal != nil:
		return 128 + signalNumber(e.Signal)
	case e.Code > 0:
		return e.Code
	}
	return 1
}

// Self is what a program calls for its flag -nodes, before it does anything else:
//
//	if ended, code := launch.Self(*nodes); ended {
//		os.Exit(code)
//	}
//
// If this process is not one of several nodes yet, and nodes is more than 1, it runs this
// program once for each node, with the same arguments, by Spawn, until all have ended. Then
// there is nothing left to do but to exit with the code. In each of them it returns at once,
// and so it does where a launcher has started as many; where it has started another number,
// that is an error. An error is a line on standard error, and a code that is not 0.
func Self(nodes int) (ended bool, code int) {
	again, err := again(nodes)
	if err == nil && !again {
		return false, 0
	}
	if err == nil {
		err = respawn(nodes)
	}
	if err == nil {
		return true, 0
	}
	fmt.Fprintln(os.Stderr, err)
	var failed *NodeError
	switch {
	case errors.As(err, &failed):
		return true, failed.ExitCode()
	case errors.Is(err, ErrEnvironment), errors.Is(err, ErrOptions):
		return true, 2
	}
	return true, 1
}

// again reports whether this program has to be run once more, for each node.
func again(nodes int) (bool, error) {
	if nodes < 0 || nodes > mostSpawned {
		return false, fmt.Errorf("%w: %d nodes: want 1 to %d", ErrOptions, nodes, mostSpawned)
	}
	if nodes <= 1 {
		return false, nil
	}
	p, err := Detect(os.Getenv, readKeyFile, os.Hostname)
	if err != nil {
		return false, err
	}
	if p.Nodes > 1 && p.Nodes != nodes {
		return false, fmt.Errorf("%w: %d nodes are asked for, and this is %v: ask for %d, or for none", ErrEnvironment, nodes, p, p.Nodes)
	}
	return p.Nodes == 1, nil
}

// respawn runs this program on each node.
func respawn(nodes int) error {
	program, err := os.Executable()
	if err != nil {
		return fmt.Errorf("launch: cannot find this program, to start it for each node: %w", err)
	}
	return Spawn(context.Background(), Run{Nodes: nodes, Program: program, Args: os.Args[1:]})
}

// longestLine is where a line without an end is broken.
const longestLine = 64 << 10

// mark is before a report, which may come between a node's lines.
const mark = "\x00orwl:"

// lines writes what it gets to another writer line by line, each behind a prefix if
// there is one. A line is one Write, under a mutex that all nodes share.
type lines struct {
	mu      *sync.Mutex
	to      io.Writer
	prefix  []byte
	rest    []byte       // the beginning of a line that has not ended
	reports func(string) // nil, or takes lines that are reports and no output
}

// lines are a node's lines for one of the run's writers.
func (r *Run) lines(mu *sync.Mutex, to io.Writer, node int) *lines {
	l := &lines{mu: mu, to: to}
	switch {
	case node == 0 && r.Plain:
	case r.Hosts != nil:
		l.prefix = fmt.Appendf(nil, "[%d %s] ", node, r.host(node))
	default:
		l.prefix = fmt.Appendf(nil, "[%d] ", node)
	}
	return l
}

func (l *lines) Write(p []byte) (int, error) {
	l.rest = append(l.rest, p...)
	done := 0
	for {
		line := l.rest[done:]
		if end := bytes.IndexByte(line, '\n'); end >= 0 && end < longestLine {
			line = line[:end]
			done++
		} else if len(line) >= longestLine {
			line = line[:longestLine]
		} else {
			break
		}
		done += len(line)
		if err := l.line(line); err != nil {
			return 0, err
		}
	}
	l.rest = append(l.rest[:0], l.rest[done:]...)
	return len(p), nil
}

// flush ends a line that its writer has not.
func (l *lines) flush() error {
	if len(l.rest) == 0 {
		return nil
	}
	last := l.rest
	l.rest = nil
	return l.line(last)
}

func (l *lines) line(text []byte) error {
	if l.reports != nil {
		before, report, is := bytes.Cut(text, []byte(mark))
		if is {
			l.reports(string(report))
		}
		if is && len(before) == 0 {
			return nil
		}
		text = before // the program had not ended its line
	}
	whole := make([]byte, 0, len(l.prefix)+len(text)+1)
	whole = append(append(append(whole, l.prefix...), text...), '\n')
	l.mu.Lock()
	defer l.mu.Unlock()
	_, err := l.to.Write(whole)
	return err
}

// Progress is how far a node is with something.
type Progress struct {
	What        string // such as sweeping; one line
	Done, Total int64
}

// A line says it: the word, the number of the node, how much is done, of how much, and of what.
const progressWord = "progress "

func (p Progress) line(node int) string {
	return fmt.Sprintf("%s%d %d %d %s", progressWord, node, p.Done, p.Total, strings.ReplaceAll(p.What, "\n", " "))
}

// parseProgress reads such a line. It is false if there is something else in it, or less.
func parseProgress(line string) (node int, p Progress, ok bool) {
	text, found := strings.CutPrefix(line, progressWord)
	if n, err := fmt.Sscanf(text, "%d %d %d", &node, &p.Done, &p.Total); !found || err != nil || n < 3 {
		return 0, Progress{}, false
	}
	fields := strings.SplitN(text, " ", 4)
	if len(fields) < 4 || node < 0 || p.Done < 0 || p.Total < 1 {
		return 0, Progress{}, false
	}
	p.What = fields[3]
	return node, p, true
}
