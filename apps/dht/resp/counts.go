package resp

import (
	"errors"

	"github.com/orwl/go-orwl/apps/dht/table"
)

// Counts are what a server has done so far, for observers of it.
type Counts struct {
	Connections int    // the connections that there are now
	Accepted    uint64 // connections
	Refused     uint64 // connections, since there were too many
	Unknown     uint64 // commands that do not exist
	Commands    []CommandCount
}

// CommandCount is how often a command was sent, how often the reply was an error, and
// how often of these because there is no room.
type CommandCount struct {
	Name                string
	Calls, Failed, Full uint64
}

// Counts tells what the server has done. A pipeline that is being executed is
// counted when its replies are written.
func (s *Server) Counts() Counts {
	s.mu.Lock()
	n := len(s.conns)
	s.mu.Unlock()
	all := Counts{Connections: n, Accepted: s.accepted.Load(), Refused: s.refused.Load(), Unknown: s.unknown.Load()}
	for _, c := range s.inOrder {
		all.Commands = append(all.Commands, CommandCount{c.name, c.calls.Load(), c.failed.Load(), c.full.Load()})
	}
	return all
}

// fails counts a reply that is an error, of the store if it is not nil.
func (c *command) fails(why error) {
	c.failed.Add(1)
	if errors.Is(why, table.ErrFull) {
		c.full.Add(1)
	}
}

// count counts a command. Those of a pipeline are mostly the same: what all
// connections share is touched when another one comes.
func (c *conn) count(cmd *command) {
	if c.counted != cmd {
		c.settle()
		c.counted = cmd
		c.recent.Store(cmd)
	}
	c.streak++
}

// settle tells the server what this connection has counted.
func (c *conn) settle() {
	if c.streak > 0 {
		c.counted.calls.Add(c.streak)
		c.server.commands.Add(c.streak)
		c.streak = 0
	}
}
