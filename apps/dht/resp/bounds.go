package resp

import "time"

// slowest is how many bytes of a request or a reply must move in a second.
const slowest = 16 << 10

// bounds are how long the server waits for a client. One that sends, or takes, a byte now and
// then is not idle, and would keep its place for ever. So a request that has begun has an end,
// and so has a reply, and the time without the password.
type bounds struct {
	born    time.Time // of the connection
	partly  time.Time // since when a request is incomplete, or zero
	limited bool      // a deadline of reading is set
	takes   time.Time // the deadline of writing
}

// sends sets until when the client must have sent more, if there is such a time.
func (c *conn) sends() error {
	o := &c.server.options
	begun := c.reader.end - c.reader.start
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
		bound(c.born.Add(o.Patience))
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

// flush writes the replies.
func (c *conn) flush() {
	if len(c.out) == 0 || c.failed != nil {
		c.out = c.out[:0]
		return
	}
	o := &c.server.options
	now, need := time.Now(), o.timeFor(len(c.out))
	if o.Idle != 0 {
		c.takes = now.Add(o.Idle)
		c.failed = c.link.SetWriteDeadline(c.takes)
	} else if c.takes.Sub(now) < need { // a deadline serves many replies
		c.takes = now.Add(2 * need)
		c.failed = c.link.SetWriteDeadline(c.takes)
	}
	if c.failed == nil {
		_, c.failed = c.link.Write(c.out)
	}
	if c.out = c.out[:0]; cap(c.out) > 2*keptReply {
		c.out = nil
	}
}
