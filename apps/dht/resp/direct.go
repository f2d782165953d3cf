package resp

import (
	"syscall"

	"github.com/orwl/go-orwl/apps/dht/table"
)

// direct writes the long value of a GET from the record to the socket, while the volume is locked. It returns at
// once: a buffer takes the bytes for which the socket has no room.
type direct struct {
	raw  syscall.RawConn
	peek func(value []byte) (used int) // nil where the system does not write so
	once func(socket uintptr) bool

	parts  [3][]byte
	wrote  int
	begun  bool   // the reply that is next has begun
	ending []byte // the bytes behind the value
}

// connect makes the functions of a connection, once.
func (c *conn) connect() {
	link, ok := c.link.(syscall.Conn)
	if !ok || !writesNow {
		return
	}
	raw, err := link.SyscallConn()
	if err != nil {
		return
	}
	c.raw, c.peek = raw, c.writeValue
	c.once = func(socket uintptr) bool {
		c.wrote = writeNow(socket, c.parts[:])
		return true
	}
}

// writeValue writes the reply that has this value, as much as the socket takes, and says how much of the value that is.
func (c *conn) writeValue(value []byte) (used int) {
	if len(value) <= table.LongValue || c.failed != nil {
		return 0
	}
	c.head('$', len(value))
	c.parts, c.wrote = [3][]byte{c.out, value, ending}, 0
	_ = c.raw.Write(c.once) // an error comes again
	n := c.wrote
	c.parts = [3][]byte{}
	if n == 0 {
		c.out = c.out[:0]
		return 0
	}
	begun := min(n, len(c.out))
	c.out = c.out[:copy(c.out, c.out[begun:])]
	used = min(n-begun, len(value))
	c.begun, c.ending = true, ending[n-begun-used:]
	return used
}

var ending = []byte("\r\n")

// remainder appends what writeValue has left of a reply.
func (c *conn) remainder(r *table.Result) {
	c.begun = false
	if len(r.Value) > table.LongValue {
		c.later(r.Value)
		r.Value = nil // the reply has it now
	} else {
		c.out = append(c.out, r.Value...)
	}
	c.out = append(c.out, c.ending...)
}
