package resp

import (
	"math"

	"github.com/orwl/go-orwl/apps/dht/table"
)

func get(c *conn, args [][]byte) {
	op := table.Op{Kind: table.Get, Key: args[1]}
	if c.batch == nil && c.size() == 0 { // no reply comes before this one
		op.Peek = c.peek
	}
	c.add(op, asValue)
}

func setnx(c *conn, args [][]byte) {
	c.add(table.Op{Kind: table.Set, Key: args[1], Value: args[2], If: table.Absent}, asDone)
}

func getset(c *conn, args [][]byte) {
	c.add(table.Op{Kind: table.Set, Key: args[1], Value: args[2], Old: true}, asValue)
}

// getdel sets what is over at once: a Delete does not tell the value.
func getdel(c *conn, args [][]byte) {
	c.add(table.Op{Kind: table.Set, Key: args[1], If: table.Present, Old: true, Expires: 1}, asValue)
}

func appendTo(c *conn, args [][]byte) {
	c.add(table.Op{Kind: table.Append, Key: args[1], Value: args[2]}, asNumber)
}

func strlen(c *conn, args [][]byte) {
	c.add(table.Op{Kind: table.Length, Key: args[1]}, asNumber)
}

func addTo(n int64) func(c *conn, args [][]byte) {
	return func(c *conn, args [][]byte) {
		c.add(table.Op{Kind: table.Add, Key: args[1], Number: n}, asNumber)
	}
}

func incrby(c *conn, args [][]byte) {
	n, ok := integer(args[2])
	if !ok {
		c.refuse(textNotInteger)
		return
	}
	c.add(table.Op{Kind: table.Add, Key: args[1], Number: n}, asNumber)
}

func decrby(c *conn, args [][]byte) {
	n, ok := integer(args[2])
	switch {
	case !ok:
		c.refuse(textNotInteger)
	case n == math.MinInt64:
		c.refuse("ERR decrement would overflow")
	default:
		c.add(table.Op{Kind: table.Add, Key: args[1], Number: -n}, asNumber)
	}
}

func mget(c *conn, args [][]byte) {
	keys := args[1:]
	c.addEach(len(keys), asElement, func(i int) table.Op {
		return table.Op{Kind: table.Get, Key: keys[i]}
	})
}

func mset(c *conn, args [][]byte) {
	pairs := args[1:]
	if len(pairs)%2 != 0 {
		c.refuse(textArity("mset"))
		return
	}
	c.addEach(len(pairs)/2, asOK, func(i int) table.Op {
		return table.Op{Kind: table.Set, Key: pairs[2*i], Value: pairs[2*i+1]}
	})
}

// set is SET key value, and what may follow in any order.
func set(c *conn, args [][]byte) {
	op := table.Op{Kind: table.Set, Key: args[1], Value: args[2]}
	if len(args) > 3 {
		problem := c.setOptions(&op, args[3:])
		if problem != "" {
			c.refuse(problem)
			return
		}
	}
	if op.Old {
		c.add(op, asValue)
		return
	}
	c.add(op, asSet)
}

// setOptions reads the options of SET into op. It says what is wrong with them.
func (c *conn) setOptions(op *table.Op, args [][]byte) (problem string) {
	var life []byte
	var unit lifetime
	for i := 0; i < len(args); i++ {
		u, timed := lifetimes(args[i])
		switch {
		case is(args[i], "nx") && op.If != table.Present:
			op.If = table.Absent
		case is(args[i], "xx") && op.If != table.Absent:
			op.If = table.Present
		case is(args[i], "get"):
			op.Old = true
		case is(args[i], "keepttl") && life == nil:
			op.Keep = true
		case timed && life == nil && !op.Keep && i+1 < len(args):
			i++
			life, unit = args[i], u
		default:
			return textSyntax
		}
	}
	if life == nil {
		return ""
	}
	n, ok := integer(life)
	if !ok {
		return textNotInteger
	}
	if op.Expires, ok = unit.end(n, c.server.options.Now()); !ok || n <= 0 {
		return textExpire("set")
	}
	return ""
}

// setFor is SETEX and PSETEX.
func setFor(unit int64) func(c *conn, args [][]byte) {
	return func(c *conn, args [][]byte) {
		n, ok := integer(args[2])
		if !ok {
			c.refuse(textNotInteger)
			return
		}
		end, ok := lifetime{unit, true}.end(n, c.server.options.Now())
		if !ok || n <= 0 {
			c.refuse(textExpire(c.recent.Load().name))
			return
		}
		c.add(table.Op{Kind: table.Set, Key: args[1], Value: args[3], Expires: end}, asSet)
	}
}
