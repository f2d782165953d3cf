package resp

import (
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/orwl/go-orwl/apps/dht/table"
	"github.com/tidwall/redcon"
)

func del(c *conn, args [][]byte) {
	keys := args[1:]
	c.addEach(len(keys), asFound, func(i int) table.Op {
		return table.Op{Kind: table.Delete, Key: keys[i]}
	})
}

func exists(c *conn, args [][]byte) {
	keys := args[1:]
	c.addEach(len(keys), asFound, func(i int) table.Op {
		return table.Op{Kind: table.Exists, Key: keys[i]}
	})
}

func typeOf(c *conn, args [][]byte) {
	c.add(table.Op{Kind: table.Exists, Key: args[1]}, asType)
}

func dbsize(c *conn, _ [][]byte) {
	n, err := c.server.options.Store.Len(c.server.running)
	if err != nil {
		c.storeError(err)
		return
	}
	c.number(n)
}

// flush is FLUSHDB and FLUSHALL: there is one database. Both wait until it is empty,
// whatever they are told.
func flush(c *conn, args [][]byte) {
	if len(args) > 2 || len(args) == 2 && !is(args[1], "sync") && !is(args[1], "async") {
		c.failure(textSyntax)
		return
	}
	if err := c.server.options.Store.Clear(c.server.running); err != nil {
		c.storeError(err)
		return
	}
	c.ok()
}

// The keys of a SCAN, if it does not say, and at most: COUNT is a hint, and a
// connection that asks for everything at once is to use KEYS.
const (
	scanCount = 10
	mostCount = 10000
	keysCount = 1000
)

// scanning is what a SCAN asks for.
type scanning struct {
	cursor uint64
	like   glob // nil: any key
	count  int
	none   bool // no key has the type that was asked for
}

func scan(c *conn, args [][]byte) {
	q, problem := newScanning(args[1:])
	if problem != "" {
		c.failure(problem)
		return
	}
	var found []byte // the keys in the form of the reply
	n, longest := 0, c.server.options.Reply
	next, err := c.server.options.Store.Scan(c.server.running, q.cursor, q.count, func(key []byte) {
		if q.none || q.like != nil && !q.like.matches(key) {
			return
		}
		if n++; len(found) <= longest {
			found = redcon.AppendBulk(found, key)
		}
	})
	switch {
	case err != nil:
		c.storeError(err)
	case len(found) > longest:
		c.failure(c.tooMuch("ask for a smaller COUNT"))
	default:
		c.array(2)
		c.text(strconv.FormatUint(next, 10))
		c.array(n)
		c.out = append(c.out, found...)
	}
}

func newScanning(args [][]byte) (q scanning, problem string) {
	cursor, err := strconv.ParseUint(string(args[0]), 10, 64)
	if err != nil {
		return q, textCursor
	}
	q = scanning{cursor: cursor, count: scanCount}
	for args = args[1:]; len(args) > 0; args = args[2:] {
		if len(args) < 2 {
			return q, textSyntax
		}
		switch {
		case is(args[0], "match"):
			q.like = glob(args[1])
			if len(q.like) == 0 {
				q.like = glob{}
			}
		case is(args[0], "type"):
			q.none = !is(args[1], "string")
		case is(args[0], "count"):
			n, ok := integer(args[1])
			if !ok {
				return q, textNotInteger
			}
			if n < 1 {
				return q, textSyntax
			}
			q.count = int(min(n, mostCount))
		default:
			return q, textSyntax
		}
	}
	return q, ""
}

// keysLike is KEYS. A key that the store shows twice is one, and they come in order: a test can compare them.
func keysLike(c *conn, args [][]byte) {
	like := glob(args[1])
	seen := make(map[string]struct{})
	size := 0
	for cursor := uint64(0); ; {
		next, err := c.server.options.Store.Scan(c.server.running, cursor, keysCount, func(key []byte) {
			if _, again := seen[string(key)]; again || size > c.server.options.Reply || !like.matches(key) {
				return
			}
			seen[string(key)] = struct{}{}
			size += len(key) + len("$1\r\n\r\n")
		})
		if err != nil {
			c.storeError(err)
			return
		}
		if size > c.server.options.Reply {
			c.failure(c.tooMuch("use SCAN"))
			return
		}
		if cursor = next; cursor == 0 {
			break
		}
	}
	c.array(len(seen))
	for _, key := range slices.Sorted(maps.Keys(seen)) {
		c.text(key)
	}
}

// glob is a pattern as Redis has it: ? is any byte, * any bytes, [a-c] one of a set,
// [^a-c] one that is not in it, and a backslash takes the next byte as it is.
type glob []byte

// matches reports whether the whole name is as the pattern says. It goes back to the
// last star only, so its time is at most the product of the lengths, whatever the
// pattern.
func (p glob) matches(name []byte) bool {
	star, from := glob(nil), []byte(nil)
	for {
		switch {
		case len(p) > 0 && p[0] == '*':
			p = p[1:]
			if len(p) == 0 {
				return true
			}
			star, from = p, name
			continue
		case len(p) == 0 && len(name) == 0:
			return true
		case len(p) > 0 && len(name) > 0:
			if ok, rest := p.one(name[0]); ok {
				p, name = rest, name[1:]
				continue
			}
		}
		if star == nil || len(from) == 0 {
			return false
		}
		from = from[1:]
		p, name = star, from
	}
}

// one matches a byte with the beginning of p, which is not a star, and returns what
// follows that.
func (p glob) one(c byte) (ok bool, rest glob) {
	switch {
	case p[0] == '?':
		return true, p[1:]
	case p[0] == '[':
		return p[1:].set(c)
	case p[0] == '\\' && len(p) > 1:
		return p[1] == c, p[2:]
	}
	return p[0] == c, p[1:]
}

// set matches a byte with the set that p is the inside of. A set without an end ends
// where the pattern does.
func (p glob) set(c byte) (ok bool, rest glob) {
	not := len(p) > 0 && p[0] == '^'
	if not {
		p = p[1:]
	}
	for ; len(p) > 0 && p[0] != ']'; p = p[1:] {
		switch {
		case p[0] == '\\' && len(p) > 1:
			p = p[1:]
			ok = ok || p[0] == c
		case len(p) > 2 && p[1] == '-':
			low, high := min(p[0], p[2]), max(p[0], p[2])
			ok = ok || low <= c && c <= high
			p = p[2:]
		default:
			ok = ok || p[0] == c
		}
	}
	if len(p) > 0 {
		p = p[1:]
	}
	return ok != not, p
}

// lifetime is how a command says until when a key lives: in units of so many
// milliseconds, from now on or since 1970.
type lifetime struct {
	unit     int64
	relative bool
}

// lifetimes is what the word before a time makes of it.
func lifetimes(word []byte) (l lifetime, ok bool) {
	switch {
	case is(word, "ex"):
		return lifetime{1000, true}, true
	case is(word, "px"):
		return lifetime{1, true}, true
	case is(word, "exat"):
		return lifetime{1000, false}, true
	case is(word, "pxat"):
		return lifetime{1, false}, true
	}
	return lifetime{}, false
}

// end is when a life of n ends, in Unix milliseconds. It reports false if that is no
// time.
func (l lifetime) end(n, now int64) (int64, bool) {
	if n > math.MaxInt64/l.unit || n < math.MinInt64/l.unit {
		return 0, false
	}
	n *= l.unit
	if !l.relative {
		return n, true
	}
	if n > math.MaxInt64-now {
		return 0, false
	}
	return n + now, true
}

// expire is EXPIRE and its likes. A key whose life is over is deleted.
func expire(unit int64, relative bool) func(c *conn, args [][]byte) {
	l := lifetime{unit, relative}
	return func(c *conn, args [][]byte) {
		op := table.Op{Kind: table.Expire, Key: args[1]}
		if refusal := expireOnlyIf(&op, args[3:]); refusal != "" {
			c.refuse(refusal)
			return
		}
		n, ok := integer(args[2])
		if !ok {
			c.refuse(textNotInteger)
			return
		}
		now := c.server.options.Now()
		if op.Expires, ok = l.end(n, now); !ok {
			c.refuse(textExpire(c.recent.Load().name))
			return
		}
		if op.Expires <= now {
			op.Expires = 1 // in 1970: over on every node's clock
		}
		c.add(op, asDone)
	}
}

// expireOnlyIf reads NX, XX, GT and LT. It returns why they are refused, or nothing.
func expireOnlyIf(op *table.Op, words [][]byte) (refusal string) {
	var nx, xx bool
	for _, word := range words {
		switch {
		case is(word, "nx"):
			nx, op.If = true, table.Absent
		case is(word, "xx"):
			xx, op.If = true, table.Present
		case is(word, "gt"):
			op.Later = true
		case is(word, "lt"):
			op.Sooner = true
		default:
			return "ERR Unsupported option " + string(shown(word))
		}
	}
	switch {
	case nx && (xx || op.Later || op.Sooner):
		return textExpireNX
	case op.Later && op.Sooner:
		return textExpireGT
	}
	return ""
}

// persist answers 1 if the key would not have lived for ever.
func persist(c *conn, args [][]byte) {
	c.add(table.Op{Kind: table.Expire, Key: args[1]}, asPersisted)
}

func lives(s shape) func(c *conn, args [][]byte) {
	return func(c *conn, args [][]byte) {
		c.add(table.Op{Kind: table.Exists, Key: args[1]}, s)
	}
}
