package resp

import (
	"math"

	"github.com/orwl/go-orwl/apps/dht/table"
)

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
