package resp

import "time"

// slowest is how many bytes of a request or a reply must move in a second.
const slowest = 16 << 10

// bounds are how long the server waits for a client. One that sends, or takes, a byte now and
// then is not idle, and would keep its place for ever. So a request that has begun has an end,
// and so has a reply, and the time without the password.
type bounds struct {
	began   time.Time // of the connection
	partly  time.Time // since when a request is incomplete, or zero
	limited bool      // a deadline of reading is set
	takes   time.Time // the deadline of writing
}

// sends sets until when the client must have sent more, if there is such a time.
func (c *conn) sends() error {
	o := &c.server.options
	begun := c.reader.begun()
	if o.Idle == 0 && !c.reader.limits.stranger && begun == 0 {
		if !c.limited {
			return nil
		}
		c.limited = false
		return c.link.SetReadDeadline(time.Time{})
	}
	c.limited = true
	return c.link.SetReadDeadline(c.until(time.Now(), begun))
}

// until is the first of all ends. begun is how much of a request is here.
func (c *conn) until(now time.Time, begun int) (end time.Time) {
	o := &c.server.options
	bound := func(t time.Time) {
		if end.IsZero() || t.Before(end) {
			end = t
		}
	}
	if o.Idle != 0 {
		bound(now.Add(o.Idle))
	}
	if c.reader.limits.stranger {
		bound(c.began.Add(o.Patience))
	}
	if begun > 0 {
		if c.partly.IsZero() {
			c.partly = now
		}
		bound(c.partly.Add(o.timeFor(begun)))
	}
	return end
}

// timeFor is how long so many bytes may take.
func (o *Options) timeFor(bytes int) time.Duration {
	return o.Patience + time.Duration(bytes)*(time.Second/slowest)
}

// flush writes the replies, and gives back what they took.
func (c *conn) flush() {
	if c.size() > 0 && c.failed == nil {
		c.write()
	}
	c.cut(0, c.server.options.Memory)
	c.rest()
}

// write writes the replies. If there is no room for the replies, the client must take them at once.
func (c *conn) write() {
	o := &c.server.options
	now, need := time.Now(), o.timeFor(c.size())
	switch {
	case !c.cover(cap(c.out)):
		c.takes = now.Add(min(need, hurried))
		c.failed = c.link.SetWriteDeadline(c.takes)
	case o.Idle != 0:
		c.takes = now.Add(o.Idle)
		c.failed = c.link.SetWriteDeadline(c.takes)
	case c.takes.Sub(now) < need: // a deadline serves many replies
		c.takes = now.Add(2 * need)
		c.failed = c.link.SetWriteDeadline(c.takes)
	}
	switch {
	case c.failed != nil:
	case len(c.values) == 0:
		_, c.failed = c.link.Write(c.out)
	default:
		pieces := c.pieces()
		_, c.failed = pieces.WriteTo(c.link)
	}
}

// hurried is for how long the server waits for a client whose replies there is no room for.
const hurried = time.Second

// cover tells the budget of n bytes of replies in Go's heap, beyond what a connection has at rest, and
// reports whether there is room for them.
func (c *conn) cover(n int) bool {
	if n -= smallReply; n <= c.covered {
		return true
	}
	if !c.server.options.Memory.Hold(n - c.covered) {
		return false
	}
	c.covered = n
	return true
}

// smallReply is how much of a reply's memory a connection keeps in any case.
const smallReply = 4 << 10

// rest gives the memory of replies back, unless it is little, or there is much.
func (c *conn) rest() {
	if cap(c.out) <= smallReply && c.covered == 0 && cap(c.values) <= leastWidth {
		return
	}
	keep := cap(c.out) <= 2*keptReply && c.server.options.Memory.Calm() && c.cover(cap(c.out))
	if !keep && cap(c.out) > smallReply {
		c.out = nil
	}
	if cap(c.values) > leastWidth {
		c.values = nil
	}
	if left := max(0, cap(c.out)-smallReply); left < c.covered {
		c.server.options.Memory.Drop(c.covered - left)
		c.covered = left
	}
}
