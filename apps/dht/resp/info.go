package resp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"

	"github.com/orwl/go-orwl/apps/dht/table"
)

// speaksAs is the version of Redis whose words and replies these are.
const speaksAs = "7.0.0"

// section is a part of INFO.
type section struct {
	name  string
	lines func(s *Server, c *conn) ([]string, error)
}

func sections() []section {
	return []section{
		{"server", infoServer}, {"clients", infoClients}, {"memory", infoMemory}, {"persistence", infoPersistence},
		{"stats", infoStats}, {"replication", infoReplication}, {"cluster", infoCluster}, {"keyspace", infoKeyspace},
	}
}

func info(c *conn, args [][]byte) {
	var text strings.Builder
	for _, s := range sections() {
		if !s.asked(args[1:]) {
			continue
		}
		lines, err := s.lines(c.server, c)
		if err != nil {
			c.storeError(err)
			return
		}
		if text.Len() > 0 {
			text.WriteString("\r\n")
		}
		fmt.Fprintf(&text, "# %s\r\n", strings.ToUpper(s.name[:1])+s.name[1:])
		for _, line := range lines {
			text.WriteString(line + "\r\n")
		}
	}
	c.verbatim(text.String())
}

// asked reports whether the section is among those that INFO was asked for: all, if
// none.
func (s section) asked(names [][]byte) bool {
	if len(names) == 0 {
		return true
	}
	for _, name := range names {
		if is(name, s.name) || is(name, "all") || is(name, "default") || is(name, "everything") {
			return true
		}
	}
	return false
}

func infoServer(s *Server, c *conn) ([]string, error) {
	port := 0
	if a, ok := c.link.LocalAddr().(*net.TCPAddr); ok {
		port = a.Port
	}
	up := (s.options.Now() - s.started) / 1000
	return []string{
		"redis_version:" + speaksAs, "server_name:orwl-dht", "redis_mode:standalone",
		"os:" + runtime.GOOS + " " + runtime.GOARCH, "go_version:" + runtime.Version(),
		fmt.Sprintf("process_id:%d", os.Getpid()), fmt.Sprintf("tcp_port:%d", port),
		fmt.Sprintf("uptime_in_seconds:%d", up), fmt.Sprintf("uptime_in_days:%d", up/(24*60*60)),
	}, nil
}

func infoClients(s *Server, _ *conn) ([]string, error) {
	s.mu.Lock()
	n := len(s.conns)
	s.mu.Unlock()
	return []string{fmt.Sprintf("connected_clients:%d", n), fmt.Sprintf("maxclients:%d", s.options.Clients), "blocked_clients:0"}, nil
}

func infoMemory(s *Server, _ *conn) ([]string, error) {
	used := resident()
	return []string{
		fmt.Sprintf("used_memory:%d", used), fmt.Sprintf("used_memory_human:%.2fM", float64(used)/(1<<20)),
		fmt.Sprintf("used_memory_rss:%d", used), fmt.Sprintf("maxmemory:%d", s.options.Memory.Usage().Limit), "maxmemory_policy:noeviction",
	}, nil
}

// resident is how much memory the process has. The figure of Go's heap counts volumes at the
// size that they may grow to, though most of those pages are untouched.
func resident() uint64 {
	if text, err := os.ReadFile("/proc/self/statm"); err == nil {
		if fields := strings.Fields(string(text)); len(fields) > 1 {
			if pages, err := strconv.ParseUint(fields[1], 10, 64); err == nil {
				return pages * uint64(os.Getpagesize())
			}
		}
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.Sys - m.HeapReleased
}

func infoPersistence(*Server, *conn) ([]string, error) {
	return []string{"loading:0", "rdb_bgsave_in_progress:0", "aof_enabled:0", "aof_rewrite_in_progress:0"}, nil
}

func infoStats(s *Server, c *conn) ([]string, error) {
	return []string{
		fmt.Sprintf("total_connections_received:%d", s.accepted.Load()+s.refused.Load()),
		fmt.Sprintf("total_commands_processed:%d", s.commands.Load()+c.streak),
		fmt.Sprintf("rejected_connections:%d", s.refused.Load()),
	}, nil
}

func infoReplication(*Server, *conn) ([]string, error) {
	return []string{"role:master", "connected_slaves:0"}, nil
}

func infoCluster(*Server, *conn) ([]string, error) { return []string{"cluster_enabled:0"}, nil }

// infoKeyspace tells of no database if that is empty, as Redis does.
func infoKeyspace(s *Server, _ *conn) ([]string, error) {
	n, err := s.options.Store.Len(s.running)
	if err != nil || n == 0 {
		return nil, err
	}
	return []string{fmt.Sprintf("db0:keys=%d,expires=0,avg_ttl=0", n)}, nil
}

// configCommands are the subcommands of CONFIG.
func configCommands() []*command {
	return []*command{
		{name: "get", arity: -3, about: "What the server was told", do: configGet},
		{name: "help", arity: 2, since: "5.0.0", about: "This list", do: help},
	}
}

// configGet answers in the names that Redis has for it: programs ask for them.
func configGet(c *conn, args [][]byte) {
	o := c.server.options
	settings := [][2]string{
		{"save", ""}, {"appendonly", "no"}, {"databases", "1"}, {"maxmemory", strconv.Itoa(o.Memory.Usage().Limit)}, {"maxmemory-policy", "noeviction"},
		{"maxclients", strconv.Itoa(o.Clients)}, {"proto-max-bulk-len", strconv.Itoa(o.Bulk)},
		{"client-query-buffer-limit", strconv.Itoa(o.Request)}, {"timeout", strconv.Itoa(int(math.Ceil(o.Idle.Seconds())))},
	}
	var found [][2]string
	for _, s := range settings {
		for _, like := range args[2:] {
			if glob(lowered(nil, like)).matches([]byte(s[0])) {
				found = append(found, s)
				break
			}
		}
	}
	c.mapping(len(found))
	for _, s := range found {
		c.text(s[0])
		c.text(s[1])
	}
}

// tableCommands are the subcommands of COMMAND. The first is COMMAND alone, too.
func tableCommands() []*command {
	return []*command{
		{name: "info", arity: -2, about: "What commands take: all, or those named", do: commandInfo},
		{name: "count", arity: 2, about: "How many commands there are", do: commandCount},
		{name: "list", arity: 2, since: "7.0.0", about: "The names of the commands", do: commandList},
		{name: "docs", arity: -2, since: "7.0.0", about: "What commands are for", do: commandDocs},
		{name: "help", arity: 2, since: "5.0.0", about: "This list", do: help},
	}
}

func commandCount(c *conn, _ [][]byte) { c.number(int64(len(c.server.inOrder))) }

func commandList(c *conn, _ [][]byte) {
	c.array(len(c.server.inOrder))
	for _, cmd := range c.server.inOrder {
		c.text(cmd.name)
	}
}

func commandInfo(c *conn, args [][]byte) {
	if len(args) < 3 {
		c.array(len(c.server.inOrder))
		for _, cmd := range c.server.inOrder {
			c.row(cmd)
		}
		return
	}
	c.array(len(args) - 2)
	for _, name := range args[2:] {
		if cmd := c.server.find(name); cmd != nil {
			c.row(cmd)
		} else {
			c.null()
		}
	}
}

// row is a command as COMMAND shows it: name, arity, flags, first and last key and
// step, categories, and what has no use here but a place: tips, key specifications.
func (c *conn) row(cmd *command) {
	c.array(10)
	c.text(cmd.name)
	c.number(int64(cmd.arity))
	c.words(strings.Fields(cmd.flags))
	c.number(int64(cmd.keys.first))
	c.number(int64(cmd.keys.last))
	c.number(int64(cmd.keys.step))
	c.words(cmd.categories())
	c.array(0)
	c.array(0)
	c.array(len(cmd.sub))
	for _, sub := range cmd.sub {
		c.row(sub)
	}
}

func (c *conn) words(all []string) {
	c.set(len(all))
	for _, w := range all {
		c.status(w)
	}
}

// categories are the command's classes of Redis's access lists.
func (c *command) categories() []string {
	var all []string
	has := func(flag string) bool { return strings.Contains(c.flags, flag) }
	if c.group == "generic" {
		all = append(all, "@keyspace")
	}
	if has("readonly") {
		all = append(all, "@read")
	}
	if has("write") {
		all = append(all, "@write")
	}
	if c.group == "string" || c.group == "connection" {
		all = append(all, "@"+c.group)
	}
	if has("fast") {
		return append(all, "@fast")
	}
	return append(all, "@slow")
}

func commandDocs(c *conn, args [][]byte) {
	found := c.server.inOrder
	if len(args) > 2 {
		found = nil
		for _, name := range args[2:] {
			if cmd := c.server.find(name); cmd != nil {
				found = append(found, cmd)
			}
		}
	}
	c.docs(found)
}

func (c *conn) docs(all []*command) {
	c.mapping(len(all))
	for _, cmd := range all {
		c.text(cmd.name)
		entries := 3 + int(oneIf(len(cmd.sub) > 0))
		c.mapping(entries)
		c.text("summary")
		c.text(cmd.about)
		c.text("since")
		c.text(cmd.since)
		c.text("group")
		c.text(cmd.group)
		if len(cmd.sub) > 0 {
			c.text("subcommands")
			c.docs(cmd.sub)
		}
	}
}

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
