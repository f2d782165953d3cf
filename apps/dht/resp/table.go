package resp

import (
	"cmp"
	"strings"
	"sync/atomic"
)

// command is a row of the table of commands: what it takes, what it is, and what it
// does.
type command struct {
	name string
	// arity is how many strings a command has, itself one: at least -arity of them if
	// that is negative.
	arity int
	flags string // Redis's words, separated by spaces
	keys  keys
	group string // connection, generic, server or string
	since string // the version of Redis that brought it
	about string

	strangers bool // may be used before the password
	batched   bool // is operations of the store, which wait for the rest of the pipeline

	do  func(c *conn, args [][]byte)
	sub []*command

	calls, failed, full atomic.Uint64
}

// keys says which strings of a command are keys: from the first, each step, to the
// last, from the end if negative.
type keys struct{ first, last, step int }

// The kinds of keys.
var (
	oneKey   = keys{1, 1, 1}
	manyKeys = keys{1, -1, 1}
	pairs    = keys{1, -1, 2}
)

func (c *command) takes(n int) bool {
	if c.arity < 0 {
		return n >= -c.arity
	}
	return n == c.arity
}

// The flags of most.
const (
	reads      = "readonly fast"
	writes     = "write fast"
	grows      = "write denyoom fast"
	growsSlow  = "write denyoom"
	connecting = "noscript loading stale fast no_auth allow_busy"
	always     = "loading stale fast"
	asking     = "loading stale"
)

// commands is the table.
func commands() []*command {
	all := []*command{
		{name: "ping", arity: -1, flags: "fast", group: "connection", since: "1.0.0", about: "Answers PONG, or what it was given", do: ping},
		{name: "echo", arity: 2, flags: always, group: "connection", since: "1.0.0", about: "Answers what it was given", do: echo},
		{name: "auth", arity: -2, flags: connecting, group: "connection", since: "1.0.0", about: "Gives the password", strangers: true, do: auth},
		{name: "hello", arity: -1, flags: connecting, group: "connection", since: "6.0.0", about: "Chooses the protocol, and gives the password", strangers: true, do: hello},
		{name: "select", arity: 2, flags: always, group: "connection", since: "1.0.0", about: "Chooses the database: there is 0", do: selectDatabase},
		{name: "reset", arity: 1, flags: connecting, group: "connection", since: "6.2.0", about: "Makes the connection as it was", strangers: true, do: reset},
		{name: "quit", arity: -1, flags: connecting, group: "connection", since: "1.0.0", about: "Closes the connection", strangers: true, do: quit},
		{name: "client", arity: -2, group: "connection", since: "2.4.0", about: "Tells and names connections", do: container, sub: clientCommands()},

		{name: "get", arity: 2, flags: reads, keys: oneKey, group: "string", since: "1.0.0", about: "The value of a key", do: get},
		{name: "set", arity: -3, flags: growsSlow, keys: oneKey, group: "string", since: "1.0.0", about: "Sets the value of a key, on conditions, for a time", do: set},
		{name: "setnx", arity: 3, flags: grows, keys: oneKey, group: "string", since: "1.0.0", about: "Sets the value of a key that does not exist", do: setnx},
		{name: "setex", arity: 4, flags: growsSlow, keys: oneKey, group: "string", since: "2.0.0", about: "Sets the value of a key for some seconds", do: setFor(1000)},
		{name: "psetex", arity: 4, flags: growsSlow, keys: oneKey, group: "string", since: "2.6.0", about: "Sets the value of a key for some milliseconds", do: setFor(1)},
		{name: "getset", arity: 3, flags: grows, keys: oneKey, group: "string", since: "1.0.0", about: "Sets the value of a key and answers the old one", do: getset},
		{name: "getdel", arity: 2, flags: writes, keys: oneKey, group: "string", since: "6.2.0", about: "Deletes a key and answers its value", do: getdel},
		{name: "mget", arity: -2, flags: reads, keys: manyKeys, group: "string", since: "1.0.0", about: "The values of keys", do: mget},
		{name: "mset", arity: -3, flags: growsSlow, keys: pairs, group: "string", since: "1.0.1", about: "Sets the values of keys, one after another", do: mset},
		{name: "incr", arity: 2, flags: grows, keys: oneKey, group: "string", since: "1.0.0", about: "Adds one to the number that a value is", do: addTo(1)},
		{name: "decr", arity: 2, flags: grows, keys: oneKey, group: "string", since: "1.0.0", about: "Takes one from the number that a value is", do: addTo(-1)},
		{name: "incrby", arity: 3, flags: grows, keys: oneKey, group: "string", since: "1.0.0", about: "Adds to the number that a value is", do: incrby},
		{name: "decrby", arity: 3, flags: grows, keys: oneKey, group: "string", since: "1.0.0", about: "Takes from the number that a value is", do: decrby},
		{name: "append", arity: 3, flags: grows, keys: oneKey, group: "string", since: "2.0.0", about: "Makes a value longer and answers its length", do: appendTo},
		{name: "strlen", arity: 2, flags: reads, keys: oneKey, group: "string", since: "2.2.0", about: "The length of a value", do: strlen},

		{name: "del", arity: -2, flags: "write", keys: manyKeys, group: "generic", since: "1.0.0", about: "Deletes keys and answers how many there were", do: del},
		{name: "unlink", arity: -2, flags: writes, keys: manyKeys, group: "generic", since: "4.0.0", about: "Deletes keys, as DEL does", do: del},
		{name: "exists", arity: -2, flags: reads, keys: manyKeys, group: "generic", since: "1.0.0", about: "How many of the keys exist", do: exists},
		{name: "type", arity: 2, flags: reads, keys: oneKey, group: "generic", since: "1.0.0", about: "The type of a value: string, or none", do: typeOf},
		{name: "expire", arity: -3, flags: writes, keys: oneKey, group: "generic", since: "1.0.0", about: "Lets a key live for some seconds", do: expire(1000, true)},
		{name: "pexpire", arity: -3, flags: writes, keys: oneKey, group: "generic", since: "2.6.0", about: "Lets a key live for some milliseconds", do: expire(1, true)},
		{name: "expireat", arity: -3, flags: writes, keys: oneKey, group: "generic", since: "1.2.0", about: "Lets a key live until a Unix time", do: expire(1000, false)},
		{name: "pexpireat", arity: -3, flags: writes, keys: oneKey, group: "generic", since: "2.6.0", about: "Lets a key live until a Unix time in milliseconds", do: expire(1, false)},
		{name: "persist", arity: 2, flags: writes, keys: oneKey, group: "generic", since: "2.2.0", about: "Lets a key live for ever", do: persist},
		{name: "ttl", arity: 2, flags: reads, keys: oneKey, group: "generic", since: "1.0.0", about: "For how many seconds a key lives", do: lives(asSeconds)},
		{name: "pttl", arity: 2, flags: reads, keys: oneKey, group: "generic", since: "2.6.0", about: "For how many milliseconds a key lives", do: lives(asMillis)},
		{name: "expiretime", arity: 2, flags: reads, keys: oneKey, group: "generic", since: "7.0.0", about: "Until which Unix time a key lives", do: lives(asDeadline)},
		{name: "pexpiretime", arity: 2, flags: reads, keys: oneKey, group: "generic", since: "7.0.0", about: "Until which Unix time in milliseconds a key lives", do: lives(asDeadlineMillis)},
		{name: "scan", arity: -2, flags: "readonly", group: "generic", since: "2.8.0", about: "Some keys, and where to go on", do: scan},
		{name: "keys", arity: 2, flags: "readonly", group: "generic", since: "1.0.0", about: "All keys that match a pattern", do: keysLike},

		{name: "dbsize", arity: 1, flags: reads, group: "server", since: "1.0.0", about: "How many keys there are", do: dbsize},
		{name: "flushdb", arity: -1, flags: "write", group: "server", since: "1.0.0", about: "Removes all keys", do: flush},
		{name: "flushall", arity: -1, flags: "write", group: "server", since: "1.0.0", about: "Removes all keys", do: flush},
		{name: "info", arity: -1, flags: asking, group: "server", since: "1.0.0", about: "What the server is and has done", do: info},
		{name: "command", arity: -1, flags: asking, group: "server", since: "2.8.13", about: "This table", do: container, sub: tableCommands()},
		{name: "config", arity: -2, group: "server", since: "2.0.0", about: "What the server was told", do: container, sub: configCommands()},
	}
	for _, c := range all {
		c.batched = c.keys != keys{}
		for _, sub := range c.sub {
			sub.name, sub.group = c.name+"|"+sub.name, c.group
			sub.flags, sub.since = cmp.Or(sub.flags, asking), cmp.Or(sub.since, c.since)
		}
	}
	return all
}

// find is the command of that name, in whatever case, or nil.
func (s *Server) find(name []byte) *command {
	var lower [longestName]byte
	if len(name) > len(lower) {
		return nil
	}
	return s.table[string(lowered(lower[:0], name))]
}

// longestName is longer than every command's name.
const longestName = 32

func lowered(dst, name []byte) []byte {
	for _, c := range name {
		if c-'A' < 26 {
			c |= 0x20
		}
		dst = append(dst, c)
	}
	return dst
}

// is reports whether an argument is a word, given in lower case.
func is(arg []byte, word string) bool {
	if len(arg) != len(word) {
		return false
	}
	for i, c := range arg {
		if c-'A' < 26 {
			c |= 0x20
		}
		if c != word[i] {
			return false
		}
	}
	return true
}

// container does the subcommand that the second string names. COMMAND alone has a
// meaning, which is its first subcommand's.
func container(c *conn, args [][]byte) {
	own := c.counted
	if len(args) == 1 {
		own.sub[0].do(c, args)
		return
	}
	for _, sub := range own.sub {
		if !is(args[1], sub.name[len(own.name)+1:]) {
			continue
		}
		c.recent.Store(sub)
		if !sub.takes(len(args)) {
			c.failure(textArity(sub.name))
			return
		}
		sub.do(c, args)
		return
	}
	c.failure(textSubcommand(strings.ToUpper(own.name), args[1]))
}

// help lists the subcommands of the container that was called.
func help(c *conn, _ [][]byte) {
	name, _, _ := strings.Cut(c.recent.Load().name, "|")
	own := c.server.table[name]
	c.array(1 + 2*len(own.sub))
	c.status(strings.ToUpper(name) + " <subcommand> [<arg> [value] [opt] ...]. Subcommands are:")
	for _, sub := range own.sub {
		c.status(strings.ToUpper(sub.name[len(name)+1:]))
		c.status("    " + sub.about + ".")
	}
}
