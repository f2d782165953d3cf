package resp

import (
	"fmt"
	"time"

	"github.com/orwl/go-orwl/apps/dht/table"
)

// shape is what a reply makes of a result.
type shape uint8

const (
	asValue     shape = iota + 1 // the value or null
	asSet                        // OK, or null if nothing was set
	asDone                       // 1 if done
	asNumber                     // the number
	asFound                      // how many of a command's keys were found
	asElement                    // the value or null, in the array of a command's keys
	asOK                         // OK after the last of a command's keys
	asPersisted                  // 1 if there was an expiry
	asType                       // the type's name
	asSeconds                    // the time to live
	asMillis                     // the same
	asDeadline                   // the Unix time of its end, in seconds
	asDeadlineMillis
)

// answer says what the reply of an operation looks like, and which keys of a command
// it is about.
type answer struct {
	by    *command
	shape shape
	first bool
	last  bool
	of    int // how many keys the command has, if first
}

// batch is the operations of a pipeline that the store has not seen yet, and what
// becomes of them.
type batch struct {
	ops     []table.Op
	results []table.Result
	answers []answer
	late    lateOps

	// The state of a command of several keys.
	amid    bool // some of its keys are answered
	begun   int  // where its reply begins
	size    int  // the size of the reply, then
	found   int64
	failure string
	why     error // of the store, if it was that
}

// The widths of a batch, and the bytes of results above which it gets narrower. A
// buffer of a result that is longer than keptValue is not kept.
const (
	leastWidth = 8
	mostWidth  = 256
	muchResult = 256 << 10
	keptValue  = 1 << 10
	keptReply  = 64 << 10
)

// add puts an operation into the batch. Its strings are valid until the read buffer
// is filled again, and the batch is empty by then.
func (c *conn) add(op table.Op, s shape) {
	c.addOne(op, answer{by: c.counted, shape: s, first: true, last: true, of: 1})
}

func (c *conn) addOne(op table.Op, a answer) {
	if c.batch != nil && len(c.batch.ops) >= c.width {
		c.run()
	}
	if c.batch == nil {
		c.batch = c.server.batches.Get().(*batch)
	}
	b := c.batch
	b.ops = append(b.ops, op)
	b.answers = append(b.answers, a)
	if len(b.results) < len(b.ops) {
		b.results = append(b.results, table.Result{})
	}
}

// addEach adds an operation for each key of a command.
func (c *conn) addEach(n int, s shape, op func(i int) table.Op) {
	for i := range n {
		c.addOne(op(i), answer{by: c.counted, shape: s, first: i == 0, last: i == n-1, of: n})
	}
}

// run gives the batch to the store and appends the replies.
func (c *conn) run() {
	b := c.batch
	if b == nil || len(b.ops) == 0 {
		return
	}
	results := b.results[:len(b.ops)]
	for i := range results {
		r := &results[i]
		*r = table.Result{Value: r.Value[:0]}
	}
	c.server.options.Store.Do(c.server.running, b.ops, results)
	bytes := 0
	for i := range results {
		r := &results[i]
		if r.Err == table.ErrLater {
			c.again(i, results)
		}
		bytes += len(r.Value)
		c.answer(b.answers[i], r)
		if cap(r.Value) > keptValue {
			c.server.options.Memory.Give(r.Value)
			r.Value = nil
		}
	}
	clear(b.ops) // the ops must not keep the read buffer
	b.ops, b.answers = b.ops[:0], b.answers[:0]
	if bytes > muchResult {
		c.width = max(leastWidth, c.width/4)
	} else {
		c.width = min(mostWidth, 2*c.width)
	}
	if !b.amid {
		c.batch = nil
		c.server.batches.Put(b)
		c.sent()
	}
}

// lateOps are the operations of a batch that the store has put off, and where they stand in the batch.
type lateOps struct {
	ops     []table.Op
	results []table.Result
	at      []int
}

// again does the operations from one on that the store has put off. The first one gets a result. If there
// is no room for its value for a while, the result is an error.
func (c *conn) again(first int, results []table.Result) {
	b, memory := c.batch, c.server.options.Memory
	l := &b.late
	l.ops, l.results, l.at = l.ops[:0], l.results[:0], l.at[:0]
	waiting := 0 // bytes of results in Go's heap
	for i := first; i < len(results); i++ {
		if results[i].Err == table.ErrLater {
			memory.Give(results[i].Value)
			l.ops, l.results, l.at = append(l.ops, b.ops[i]), append(l.results, table.Result{}), append(l.at, i)
		}
		waiting += len(results[i].Value)
	}
	if !b.amid && c.size() >= keptReply {
		c.cover(cap(c.out) + waiting)
		c.flush()
	}
	timer := time.NewTimer(patient)
	defer timer.Stop()
	for {
		freed := memory.Freed()
		c.server.options.Store.Do(c.server.running, l.ops, l.results)
		if l.results[0].Err != table.ErrLater {
			break
		}
		if !b.amid && c.size() > 0 {
			c.flush() // it may be this client's own values that take the room
			continue
		}
		select {
		case <-freed:
			continue
		case <-timer.C:
		case <-c.server.running.Done():
		}
		l.results[0].Err = errNoReply
		break
	}
	for i, at := range l.at {
		results[at] = l.results[i]
	}
	clear(l.ops)
	clear(l.results)
}

// patient is for how long a reply waits for room.
const patient = time.Second

// errNoReply is a value for which there was no room.
var errNoReply = fmt.Errorf("%w: %s", table.ErrFull, textNoReply)

// answer appends the reply to an operation, or to a command when all its keys are
// known.
func (c *conn) answer(a answer, r *table.Result) {
	if a.first && a.last {
		if r.Err != nil {
			a.by.fails(r.Err)
			c.storeError(r.Err)
		} else {
			c.single(a.shape, r)
		}
		return
	}
	b := c.batch
	if b.amid = !a.last; a.first {
		b.begun, b.size, b.found, b.failure, b.why = len(c.out), c.size(), 0, "", nil
		if a.shape == asElement {
			c.array(a.of)
		}
	}
	switch {
	case b.failure != "":
	case r.Err != nil:
		b.failure, b.why = inRedisWords(r.Err), r.Err
	case a.shape == asElement:
		c.value(r)
		if c.size()-b.size > c.server.options.Reply {
			b.failure = c.tooMuch("ask for fewer keys at a time")
		} else if len(c.out)-b.begun > keptReply && !c.cover(cap(c.out)) {
			b.failure, b.why = textNoReply, table.ErrFull
		}
	case r.Found:
		b.found++
	}
	if b.failure != "" {
		c.cut(b.begun, c.server.options.Memory)
	}
	if !a.last {
		return
	}
	switch {
	case b.failure != "":
		a.by.fails(b.why)
		c.failure(b.failure)
	case a.shape == asFound:
		c.number(b.found)
	case a.shape == asOK:
		c.ok()
	}
}

// single appends the reply to an operation that is a command.
func (c *conn) single(s shape, r *table.Result) {
	switch s {
	case asValue:
		c.value(r)
	case asElement:
		c.array(1)
		c.value(r)
	case asSet:
		if !r.Done {
			c.null()
			return
		}
		c.ok()
	case asOK:
		c.ok()
	case asDone:
		c.flag(r.Done)
	case asNumber:
		c.number(r.Number)
	case asFound:
		c.flag(r.Found)
	case asPersisted:
		c.flag(r.Found && r.Expires != 0)
	case asType:
		if !r.Found {
			c.status("none")
			return
		}
		c.status("string")
	default:
		c.number(c.lifetime(s, r))
	}
}

func (c *conn) value(r *table.Result) {
	if !r.Found {
		c.null()
		return
	}
	if c.begun {
		c.remainder(r)
		return
	}
	if len(r.Value) <= table.LongValue {
		c.bytes(r.Value)
		return
	}
	c.whole(r.Value)
	r.Value = nil // the reply has it now
}

// lifetime is how long a key lives, or until when: -2 if there is none, -1 for ever.
func (c *conn) lifetime(s shape, r *table.Result) int64 {
	switch {
	case !r.Found:
		return -2
	case r.Expires == 0:
		return -1
	case s == asDeadlineMillis:
		return r.Expires
	case s == asDeadline:
		return seconds(r.Expires)
	}
	left := max(0, r.Expires-c.server.options.Now())
	if s == asMillis {
		return left
	}
	return seconds(left)
}

// seconds rounds milliseconds to seconds, as Redis does. No time is too late for it.
func seconds(millis int64) int64 { return millis/1000 + (millis%1000+500)/1000 }

func (c *conn) tooMuch(instead string) string {
	return fmt.Sprintf("ERR the reply would be longer than %d bytes: %s", c.server.options.Reply, instead)
}

// sent writes what there is if it is much, between two replies, so that a pipeline
// does not pile up what its client does not read.
func (c *conn) sent() {
	if c.size() >= keptReply {
		c.flush()
	}
}
