package resp

import (
	"errors"
	"io"
	"log/slog"
	"net"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/orwl/go-orwl/apps/dht/table"
)

// conn is one client.
type conn struct {
	server *Server
	id     int64
	link   net.Conn
	reader *reader
	batch  *batch // nil: nothing waits for the store
	// width is how many operations go to the store at once, at most. The lengths of
	// values are not known before, so it goes up while results are small.
	width int
	reply
	covered int // bytes of replies that the budget was told of
	counted *command
	streak  uint64 // the calls of counted that are not added to the counts yet
	closing bool   // it closes after the output is written
	bounds
	failed error // the error of a write
	direct

	// CLIENT LIST shows these to other clients.
	since  int64
	last   atomic.Int64
	label  atomic.Pointer[string]
	lib    atomic.Pointer[string]
	libVer atomic.Pointer[string]
	recent atomic.Pointer[command]
	v3seen atomic.Bool
}

func (s *Server) newConn(link net.Conn, id int64) *conn {
	c := &conn{server: s, id: id, link: link, since: s.options.Now(), bounds: bounds{began: time.Now()}}
	c.last.Store(c.since)
	c.width = leastWidth
	c.connect()
	c.reader = newReader(link, s.options.Memory, limits{bulk: s.options.Bulk, request: s.options.Request, stranger: s.options.Password != ""})
	return c
}

// serve answers until the client leaves, says what makes no sense, or the server
// ends.
func (c *conn) serve() {
	defer c.release()
	for !c.closing {
		if err := c.wait(); err != nil {
			c.left(err)
			return
		}
		timed, began := c.server.options.Timed, time.Time{}
		if timed != nil {
			began = time.Now()
		}
		err := c.pipeline()
		c.flush()
		if timed != nil && c.counted != nil {
			timed(c.counted.name, time.Since(began))
		}
		if err != nil {
			c.server.options.Log.Warn("client sent no commands", "client", c.link.RemoteAddr().String(), "error", err)
			c.linger()
			return
		}
		if c.failed != nil {
			c.left(c.failed)
			return
		}
	}
	if c.reader.start < c.reader.end {
		c.linger()
	}
}

// connBytes is what a connection takes of Go's heap at rest: its own buffers, and its goroutine.
const connBytes = 16 << 10

// release gives all memory back.
func (c *conn) release() {
	c.link.Close()
	memory := c.server.options.Memory
	c.reader.close()
	c.cut(0, memory)
	memory.Drop(c.covered + connBytes)
}

// wait returns when there is more to read.
func (c *conn) wait() error {
	if err := c.sends(); err != nil {
		return err
	}
	// Drain has set a deadline before, or does so after this.
	if c.server.draining.Load() {
		return errDraining
	}
	return c.reader.fill()
}

// pipeline executes all commands that are here.
func (c *conn) pipeline() error {
	defer c.settle()
	c.last.Store(c.server.options.Now())
	for !c.closing && c.failed == nil {
		args, err := c.reader.next()
		if err == errNoRoom {
			c.noRoom()
			continue
		}
		if err != nil {
			c.run()
			c.protocol(err)
			c.closing = true
			return err
		}
		if args == nil {
			break
		}
		c.partly = time.Time{}
		c.execute(args)
	}
	c.run()
	return nil
}

// noRoom answers a command that was dropped.
func (c *conn) noRoom() {
	c.partly = time.Time{}
	if cmd := c.server.find(c.reader.name); cmd != nil {
		c.count(cmd)
		cmd.failed.Add(1)
		cmd.full.Add(1)
	} else {
		c.server.unknown.Add(1)
	}
	c.run()
	c.failure(textNoRoom)
	c.sent()
}

// execute finds the command and does it, now or with the batch.
func (c *conn) execute(args [][]byte) {
	cmd := c.server.find(args[0])
	if cmd == nil {
		if c.closing = isWeb(args[0]); !c.closing {
			c.server.unknown.Add(1)
			c.run()
			c.failure(textUnknown(args))
			c.sent()
			return
		}
		c.server.options.Log.Warn("a browser was led here: its connection is closed", "client", c.link.RemoteAddr().String())
		return
	}
	c.count(cmd)
	if !cmd.takes(len(args)) {
		c.refuse(textArity(cmd.name))
		return
	}
	if c.reader.limits.stranger && !cmd.strangers {
		c.refuse(textNoAuth)
		return
	}
	if cmd.batched {
		cmd.do(c, args)
		return
	}
	c.run()
	begun := len(c.out)
	cmd.do(c, args)
	if len(c.out) > begun && c.out[begun] == '-' {
		cmd.failed.Add(1)
	}
	c.sent()
}

// refuse answers the command that is being executed with an error, after what came
// before.
func (c *conn) refuse(text string) {
	c.run()
	c.failure(text)
	c.counted.failed.Add(1)
	c.sent()
}

// lingering is for how long, and how much, the server reads from a client that it is
// done with. A connection that is closed while there is something to read takes back
// the last reply with it.
const (
	lingering     = time.Second
	lingeredBytes = 1 << 20
)

func (c *conn) linger() {
	half, ok := c.link.(interface{ CloseWrite() error })
	if !ok || half.CloseWrite() != nil {
		return
	}
	if c.link.SetReadDeadline(time.Now().Add(lingering)) == nil {
		io.CopyN(io.Discard, c.link, lingeredBytes)
	}
}

var errDraining = errors.New("the server ends")

// left logs why a client is gone, if that is news.
func (c *conn) left(err error) {
	level := slog.LevelDebug
	if !errors.Is(err, io.EOF) && !errors.Is(err, errDraining) && !errors.Is(err, net.ErrClosed) {
		level = slog.LevelInfo
	}
	c.server.options.Log.Log(c.server.running, level, "client is gone", "client", c.link.RemoteAddr().String(), "error", err)
}

// isWeb reports whether a line is one of a web browser's. A hostile page can make a browser
// send commands to its user's neighbours, between such lines.
func isWeb(word []byte) bool { return is(word, "post") || is(word, "host:") }

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
