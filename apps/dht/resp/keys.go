package resp

import "github.com/orwl/go-orwl/apps/dht/table"

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
