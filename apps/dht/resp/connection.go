package resp

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
)

func ping(c *conn, args [][]byte) {
	switch len(args) {
	case 1:
		c.status("PONG")
	case 2:
		c.whole(args[1])
	default:
		c.failure(textArity("ping"))
	}
}

func echo(c *conn, args [][]byte) { c.whole(args[1]) }

func quit(c *conn, _ [][]byte) {
	c.ok()
	c.closing = true
}

// reset makes the connection as it was when it came.
func reset(c *conn, _ [][]byte) {
	c.speak(2)
	c.label.Store(nil)
	c.reader.limits.stranger = c.server.options.Password != ""
	c.status("RESET")
}

func selectDatabase(c *conn, args [][]byte) {
	n, ok := integer(args[1])
	switch {
	case !ok:
		c.failure(textNotInteger)
	case n != 0:
		c.failure(textDatabase)
	default:
		c.ok()
	}
}

// theUser is the only one there is.
const theUser = "default"

func auth(c *conn, args [][]byte) {
	switch {
	case len(args) > 3:
		c.failure(textSyntax)
	case len(args) == 2 && c.server.options.Password == "":
		c.failure(textNoPassword)
	case len(args) == 2:
		c.okUnless(c.enter([]byte(theUser), args[1]))
	default:
		c.okUnless(c.enter(args[1], args[2]))
	}
}

// okUnless says OK unless there is a problem.
func (c *conn) okUnless(problem string) {
	if problem != "" {
		c.failure(problem)
		return
	}
	c.ok()
}

// enter lets a client in that has the password, or says why not. Where there is none, any
// password of the default user is right, as it is for Redis. A client whose address guesses too
// fast is sent away.
func (c *conn) enter(user, password []byte) (problem string) {
	s := c.server
	switch from, now := address(c.link), s.options.Now(); {
	case s.options.Password == "" && string(user) == theUser:
		return ""
	case s.options.Password == "":
		return textWrongPass
	case !s.guesses.may(from, now):
		s.options.Log.Warn("too many wrong passwords: passwords from there are refused for a second", "client", from)
		c.closing = true
		return textTooMany
	case !s.admits(user, password):
		s.options.Log.Warn("wrong password", "client", c.link.RemoteAddr().String())
		s.guesses.was(from, now)
		return textWrongPass
	}
	c.reader.limits.stranger = false
	return ""
}

// hello is HELLO [protocol [AUTH user password] [SETNAME name]].
func hello(c *conn, args [][]byte) {
	version := int64(2)
	if c.v3 {
		version = 3
	}
	var name []byte
	if len(args) > 1 {
		var ok bool
		version, ok = integer(args[1])
		switch {
		case !ok:
			c.failure("ERR Protocol version is not an integer or out of range")
			return
		case version != 2 && version != 3:
			c.failure(textNoProto)
			return
		}
		for rest := args[2:]; len(rest) > 0; {
			switch {
			case is(rest[0], "auth") && len(rest) > 2:
				if problem := c.enter(rest[1], rest[2]); problem != "" {
					c.failure(problem)
					return
				}
				rest = rest[3:]
			case is(rest[0], "setname") && len(rest) > 1:
				if !isName(rest[1]) {
					c.failure(textName)
					return
				}
				name, rest = rest[1], rest[2:]
			default:
				c.failure("ERR Syntax error in HELLO option '" + string(shown(rest[0])) + "'")
				return
			}
		}
	}
	if c.reader.limits.stranger {
		c.failure(textHelloAuth)
		return
	}
	if name != nil {
		c.name(name)
	}
	c.speak(version)
	c.greet(version)
}

// speak changes the protocol of all replies from this one on.
func (c *conn) speak(version int64) {
	c.v3 = version == 3
	c.v3seen.Store(c.v3)
}

func (c *conn) greet(version int64) {
	c.mapping(7)
	c.text("server")
	c.text("redis")
	c.text("version")
	c.text(speaksAs)
	c.text("proto")
	c.number(version)
	c.text("id")
	c.number(c.id)
	c.text("mode")
	c.text("standalone")
	c.text("role")
	c.text("master")
	c.text("modules")
	c.array(0)
}

// isName reports whether CLIENT LIST can show a name.
func isName(name []byte) bool {
	return strings.IndexFunc(string(name), func(c rune) bool { return c < '!' || c > '~' }) < 0
}

func (c *conn) name(name []byte) {
	if len(name) == 0 {
		c.label.Store(nil)
		return
	}
	text := string(name)
	c.label.Store(&text)
}

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
