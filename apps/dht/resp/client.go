package resp

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
)

// clientCommands are the subcommands of CLIENT.
func clientCommands() []*command {
	return []*command{
		{name: "id", arity: 2, since: "5.0.0", about: "The number of this connection", do: clientID},
		{name: "getname", arity: 2, since: "2.6.9", about: "The name of this connection", do: clientGetname},
		{name: "setname", arity: 3, since: "2.6.9", about: "Names this connection", do: clientSetname},
		{name: "setinfo", arity: 4, since: "7.2.0", about: "Tells the client's library: LIB-NAME or LIB-VER", do: clientSetinfo},
		{name: "info", arity: 2, since: "6.2.0", about: "This connection", do: clientInfo},
		{name: "list", arity: -2, about: "All connections, or those of some numbers by ID", do: clientList},
		{name: "no-evict", arity: 3, since: "7.0.0", about: "ON or OFF: no connection is closed for memory here", do: clientSwitch},
		{name: "no-touch", arity: 3, since: "7.2.0", about: "ON or OFF: reading changes no key here", do: clientSwitch},
		{name: "help", arity: 2, since: "5.0.0", about: "This list", do: help},
	}
}

func clientID(c *conn, _ [][]byte) { c.number(c.id) }

func clientGetname(c *conn, _ [][]byte) {
	if name := c.label.Load(); name != nil {
		c.text(*name)
		return
	}
	c.null()
}

func clientSetname(c *conn, args [][]byte) {
	if !isName(args[2]) {
		c.failure(textName)
		return
	}
	c.name(args[2])
	c.ok()
}

func clientSetinfo(c *conn, args [][]byte) {
	var to *atomic.Pointer[string]
	switch {
	case is(args[2], "lib-name"):
		to = &c.lib
	case is(args[2], "lib-ver"):
		to = &c.libVer
	default:
		c.failure("ERR Unrecognized option '" + string(shown(args[2])) + "'")
		return
	}
	if !isName(args[3]) {
		c.failure("ERR " + strings.ToLower(string(args[2])) + " cannot contain spaces, newlines or special characters.")
		return
	}
	text := string(args[3])
	to.Store(&text)
	c.ok()
}

func clientSwitch(c *conn, args [][]byte) {
	if !is(args[2], "on") && !is(args[2], "off") {
		c.failure(textSyntax)
		return
	}
	c.ok()
}

func clientInfo(c *conn, _ [][]byte) { c.verbatim(c.describe(c.server.options.Now()) + "\n") }

// clientList is CLIENT LIST [TYPE type] [ID id ...].
func clientList(c *conn, args [][]byte) {
	wanted := func(*conn) bool { return true }
	switch {
	case len(args) == 2:
	case len(args) == 4 && is(args[2], "type"):
		switch {
		case is(args[3], "normal"):
		case is(args[3], "master"), is(args[3], "replica"), is(args[3], "slave"), is(args[3], "pubsub"):
			wanted = func(*conn) bool { return false }
		default:
			c.failure("ERR Unknown client type '" + string(shown(args[3])) + "'")
			return
		}
	case len(args) > 3 && is(args[2], "id"):
		ids := make(map[int64]bool)
		for _, a := range args[3:] {
			id, ok := integer(a)
			if !ok || id < 1 {
				c.failure("ERR Invalid client ID")
				return
			}
			ids[id] = true
		}
		wanted = func(other *conn) bool { return ids[other.id] }
	default:
		c.failure(textSyntax)
		return
	}
	var text strings.Builder
	now := c.server.options.Now()
	for _, other := range c.server.clients() {
		if wanted(other) {
			text.WriteString(other.describe(now) + "\n")
		}
	}
	c.verbatim(text.String())
}

// clients are the connections there are, in the order in which they came.
func (s *Server) clients() []*conn {
	s.mu.Lock()
	all := make([]*conn, 0, len(s.conns))
	for c := range s.conns {
		all = append(all, c)
	}
	s.mu.Unlock()
	slices.SortFunc(all, func(a, b *conn) int { return int(a.id - b.id) })
	return all
}

// describe is the connection's line in CLIENT LIST. Any goroutine may ask.
func (c *conn) describe(now int64) string {
	protocol := 2
	if c.v3seen.Load() {
		protocol = 3
	}
	recent := "NULL"
	if cmd := c.recent.Load(); cmd != nil {
		recent = cmd.name
	}
	return fmt.Sprintf("id=%d addr=%v laddr=%v name=%s age=%d idle=%d flags=N db=0 sub=0 psub=0 multi=-1 cmd=%s user=%s resp=%d lib-name=%s lib-ver=%s",
		c.id, c.link.RemoteAddr(), c.link.LocalAddr(), textOf(&c.label), (now-c.since)/1000, (now-c.last.Load())/1000,
		recent, theUser, protocol, textOf(&c.lib), textOf(&c.libVer))
}

func textOf(p *atomic.Pointer[string]) string {
	if s := p.Load(); s != nil {
		return *s
	}
	return ""
}
