package resp

import "strings"

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
