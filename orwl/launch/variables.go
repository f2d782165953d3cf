package launch

import (
	"strconv"
	"time"

	"github.com/orwl/go-orwl/internal/terminal"
)

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

// sameVariables are those that all nodes have alike, also over ssh. Package orwl reads the last two.
var sameVariables = []string{envLease, "ORWL_SURVIVE", "ORWL_LIVES"}

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
