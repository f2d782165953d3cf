package launch

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"github.com/orwl/go-orwl/internal/terminal"
)

// FromEnvironment says what the place of this process is. In a process that Spawn started, the
// first call takes what the process has inherited. From then on, when the process that started
// it is gone, this one gets SIGTERM, as if it had been asked to end. If that does not end it, it is
// killed 5 s later.
func FromEnvironment() (Place, error) {
	p, err := Detect(os.Getenv, readKeyFile, os.Hostname)
	if err != nil || !p.How.BySpawn() {
		return p, err
	}
	if p.Key, err = inheritedKey(); err != nil {
		return Place{}, err
	}
	if os.Getenv(envReport) != "" {
		p.Report, p.GoOn, p.Done = report, reportGoOn, reportDone
	}
	if os.Getenv(envProgress) != "" {
		p.Progress = func(done Progress) error { return reportProgress(p.Node, done) }
	}
	return p, nil
}

// Joining is FromEnvironment as if ORWL_JOIN were the number of nodes: what a program's own
// flag -join calls.
func Joining(nodes int) (Place, error) {
	return Detect(func(name string) string {
		if name == envJoin {
			return strconv.Itoa(nodes)
		}
		return os.Getenv(name)
	}, readKeyFile, os.Hostname)
}

// KeyFromEnvironment is the cluster key alone, of ORWL_KEY or of the file ORWL_KEY_FILE, for a
// process that is not part of a run. It is nil if neither is set.
func KeyFromEnvironment() ([]byte, error) {
	return surroundings{os.Getenv, readKeyFile, os.Hostname}.key()
}

// readKeyFile reads a key's file, which no other user may read.
func readKeyFile(name string) ([]byte, error) {
	content, err := ReadPrivate(name, 2*mostKey)
	if errors.Is(err, errTooLong) {
		err = errors.New("that is too long for a key")
	}
	return content, err
}

var errTooLong = errors.New("the file is too long")

// ReadPrivate reads a file with a secret: a key, or a password. It refuses a file that other users
// may read or change, and one of more than most bytes.
func ReadPrivate(name string, most int) ([]byte, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return nil, errors.New("it is a folder")
	}
	if err := checkPrivate(info); err != nil {
		return nil, err
	}
	content, err := io.ReadAll(io.LimitReader(file, int64(most)+1))
	if err == nil && len(content) > most {
		err = errTooLong
	}
	return content, err
}

// The variables that are ours.
const (
	envNode     = "ORWL_NODE"
	envNodes    = "ORWL_NODES"
	envRoot     = "ORWL_ROOT"
	envPeers    = "ORWL_PEERS"
	envListen   = "ORWL_LISTEN"
	envPort     = "ORWL_PORT"
	envService  = "ORWL_SERVICE"
	envKey      = "ORWL_KEY"
	envKeyFile  = "ORWL_KEY_FILE"
	envLease    = "ORWL_LEASE"
	envBegin    = "ORWL_BEGIN"
	envLate     = "ORWL_LATE"
	envRestarts = "ORWL_RESTARTS"
	envSSH      = "ORWL_SSH"
	envJoin     = "ORWL_JOIN"
	envLifeline = "ORWL_LIFELINE_FD"
	envReport   = "ORWL_REPORT_FD"
	envProgress = "ORWL_PROGRESS_FD"
	envTerminal = terminal.Variable
)

// sameVariables are those that all nodes have alike, also over ssh. Packages orwl and orwl/nodes read all but the first one.
var sameVariables = []string{envLease, "ORWL_SURVIVE", "ORWL_LIVES", "ORWL_FLIGHT", "ORWL_CARRIER"}

// ownVariables are the variables that Spawn does not hand down: they are about the process that
// spawns, or about an outer run. It does hand down what all nodes have alike.
var ownVariables = []string{
	envNode, envNodes, envRoot, envPeers, envListen, envPort, envService, envKey, envKeyFile, envSSH, envJoin, envBegin, envLate,
	envRestarts, envLifeline, envReport, envProgress, envTerminal,
}

// mostNodes is the largest run, mostMet the largest whose nodes find each other.
const (
	mostNodes = 1 << 16
	mostMet   = 1 << 10
)

// surroundings is what a process can learn from outside.
type surroundings struct {
	getenv   func(string) string
	readFile func(string) ([]byte, error)
	hostname func() (string, error)
}

// number is the value of a variable, which lies in least..most. It is false if the
// variable is not set.
func (s surroundings) number(variable string, least, most int) (int, bool, error) {
	text := s.getenv(variable)
	if text == "" {
		return 0, false, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < least || n > most {
		return 0, false, mistake(variable, "is %q: want a number from %d to %d", text, least, most)
	}
	return n, true, nil
}

// lease is ORWL_LEASE, 0 if it is not set.
func (s surroundings) lease() (time.Duration, error) {
	text := s.getenv(envLease)
	if text == "" {
		return 0, nil
	}
	lease, err := time.ParseDuration(text)
	if err != nil || lease <= 0 {
		return 0, mistake(envLease, "is %q: want a time such as 5s, the same for all nodes", text)
	}
	return lease, nil
}

// begin is ORWL_BEGIN: how many of so many nodes begin.
func (s surroundings) begin(nodes int) (int, error) {
	begin, set, err := s.number(envBegin, 1, mostNodes)
	switch {
	case err != nil || !set || nodes == 1:
		return nodes, err
	case begin > nodes:
		return 0, mistake(envBegin, "is %d, and there are %d nodes: want 1 to %d", begin, nodes, nodes)
	}
	return begin, nil
}

// late is whether a process in this place comes to a run that goes on: ORWL_LATE says so, or it does
// not begin.
func (s surroundings) late(p Place) (bool, error) {
	is, _, err := s.number(envLate, 0, 1)
	switch {
	case err != nil:
		return false, err
	case is == 0:
		return p.Begin > 0 && p.Node >= p.Begin, nil
	case p.Nodes <= 1 || p.Unmet:
		return false, mistake(envLate, "is 1, and this is %v: say which node comes late by %s and %s", p, envNode, envNodes)
	case p.Node == 0 && p.Peers == nil:
		return false, mistake(envLate, "is 1, and this is node 0: set %s, since node 0 has to find another node", envPeers)
	}
	return true, nil
}

// first is the first of the variables that is set, and its value.
func (s surroundings) first(variables ...string) (variable, value string) {
	for _, variable := range variables {
		if value := s.getenv(variable); value != "" {
			return variable, value
		}
	}
	return "", ""
}

// The errors of a start.
var (
	// ErrEnvironment is an environment that is half set, or contradicts itself. The
	// error that wraps it names the variable and what to do.
	ErrEnvironment = errors.New("launch: environment")
	// ErrOptions is a Run that makes no sense.
	ErrOptions = errors.New("launch: options")
	// ErrNoReport is a node 0 that ended well, and did not say before where it listens.
	ErrNoReport = errors.New("it never said where it listens, so no other node was started: is it an orwl program that runs on several nodes?")
	// ErrUnsupported is a Spawn where processes cannot inherit pipes.
	ErrUnsupported = errors.New("launch: cannot start nodes on this system: start each by itself, with ORWL_NODE and ORWL_PEERS")
)

// mistake is an ErrEnvironment about a variable.
func mistake(variable, format string, args ...any) error {
	return fmt.Errorf("%w: %s %w", ErrEnvironment, variable, fmt.Errorf(format, args...))
}
