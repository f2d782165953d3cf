package resp

import (
	"context"
	"errors"
	"log/slog"
	"sync"

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

// seldom is a log that strangers cannot fill: of each message it passes on some at once, and
// then one line in a while. The line after says how many were left out.
type seldom struct {
	slog.Handler
	said *said
}

// said is what was logged lately.
type said struct {
	mu  sync.Mutex
	now func() int64
	of  map[string]*saying
}

// saying is a message. There are as many as calls of the log in this package.
type saying struct {
	since int64 // when the while began
	count int   // lines in it
	kept  int   // lines left out
}

const (
	linesAtOnce = 10
	aWhile      = 10 * 1000 // ms
)

func newSeldom(log *slog.Logger, now func() int64) *slog.Logger {
	return slog.New(seldom{log.Handler(), &said{now: now, of: make(map[string]*saying)}})
}

// Handle implements slog.Handler.
func (s seldom) Handle(ctx context.Context, r slog.Record) error {
	left, pass := s.said.pass(r.Message)
	if !pass {
		return nil
	}
	if left > 0 {
		r.AddAttrs(slog.Int("left_out", left))
	}
	return s.Handler.Handle(ctx, r)
}

// WithAttrs implements slog.Handler.
func (s seldom) WithAttrs(a []slog.Attr) slog.Handler { return seldom{s.Handler.WithAttrs(a), s.said} }

// WithGroup implements slog.Handler.
func (s seldom) WithGroup(name string) slog.Handler { return seldom{s.Handler.WithGroup(name), s.said} }

// pass reports whether a line may be written, and how many like it were left out before.
func (s *said) pass(message string) (left int, pass bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	is := s.of[message]
	if is == nil {
		is = &saying{since: now}
		s.of[message] = is
	}
	if now-is.since >= aWhile {
		is.since, is.count = now, 0
	}
	if is.count == linesAtOnce {
		is.kept++
		return 0, false
	}
	is.count++
	left, is.kept = is.kept, 0
	return left, true
}
