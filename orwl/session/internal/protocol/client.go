package protocol

import (
	"errors"
	"fmt"
	"time"

	"github.com/orwl/go-orwl/internal/leases"
)

var (
	// ErrExpired ends a session whose lease is over.
	ErrExpired = errors.New("session: the lease is over")
	// ErrLate is an admission that comes so late after the hello that the lease would be over. The
	// session has nothing yet: it connects again.
	ErrLate = errors.New("session: the home has admitted the session too late")
)

// Client is the session's end: it says hello, beats, and lets go in time.
//
//	new ──▶ connected ──▶ admitted ──▶ over
//	           ▲              │
//	           └── connection ┘
//
// Times are of its own clock. Not for several goroutines at once.
type Client struct {
	id  []byte
	who string

	link   link
	lease  Lease
	known  bool // it was admitted
	speaks bool // it is admitted on this connection
	over   error

	began  int64 // when it connected
	said   int64 // when its newest beat was sent
	echoed int64 // when the newest beat that was echoed was sent

	out   []Message
	heard []Message
}

// NewClient makes a client. The ID is 16 random bytes, a secret.
func NewClient(id []byte, who string) *Client { return &Client{id: id, who: who} }

// Over is why the session is over, or nil.
func (c *Client) Over() error { return c.over }

// Lease is the session's, once it is admitted.
func (c *Client) Lease() Lease { return c.lease }

// Known reports whether the session was ever admitted.
func (c *Client) Known() bool { return c.known }

// Out returns the messages to send, in order.
func (c *Client) Out() []Message {
	out := c.out
	c.out = nil
	for i := range out {
		out[i].Taken = c.link.taken
	}
	return out
}

// Heard returns what the home has said, once and in order: Granted, Revoked, Lost and Answer.
func (c *Client) Heard() []Message {
	heard := c.heard
	c.heard = nil
	return heard
}

// Connect begins a connection. It drops what was not sent on the one before.
func (c *Client) Connect(now int64) {
	c.speaks, c.out, c.began, c.said = false, nil, now, now
	c.out = append(c.out, Message{Hello: &Hello{ID: c.id, Who: c.who, Known: c.known, Sent: now}})
}

// Silent reports whether the connection brings so little that another one is better: no echo of
// a beat of the last third of the lease. The rest of the lease is for the new connection.
func (c *Client) Silent(now int64) bool {
	return c.known && now-max(c.echoed, c.began) >= int64(c.lease.Lease)/3
}

// Say says something with a number, and returns the number.
func (c *Client) Say(m Message) uint64 {
	m = c.link.say(m)
	if c.speaks {
		c.out = append(c.out, m)
	}
	return m.Number
}

// Leave ends the session.
func (c *Client) Leave() {
	if c.speaks && c.over == nil {
		c.out = append(c.out, Message{Bye: &Bye{}})
	}
}

// Take takes a message of the home. An error says that no home sends this. A message that
// comes after the lease does not count: the home may have granted the next request.
func (c *Client) Take(now int64, m Message) error {
	if c.expired(now) {
		return nil
	}
	fresh, err := c.link.take(m)
	switch {
	case err != nil:
		return err
	case m.Admission != nil:
		return c.admitted(now, m.Admission)
	case m.Bye != nil:
		c.over = fmt.Errorf("%w: the home says: %s", ErrExpired, m.Bye.Why)
	case !c.speaks:
		return fmt.Errorf("%w: the home speaks before its admission", ErrMessage)
	case m.Echo != nil:
		return c.echo(m.Echo.Sent)
	case m.Granted == nil && m.Revoked == nil && m.Lost == nil && m.Answer == nil:
		return fmt.Errorf("%w: the home sends a message that only a client may send", ErrMessage)
	case fresh:
		c.heard = append(c.heard, m)
	}
	return nil
}

// admitted begins to speak, with all that the home has not taken. The first admission echoes the
// hello. A later one renews nothing: messages that the client has not taken come behind it, and a
// Revoked among them must come before the lease is renewed. The home sends an Echo behind them.
func (c *Client) admitted(now int64, w *Admission) error {
	lease := leaseOf(w)
	switch {
	case c.known && lease != c.lease:
		return fmt.Errorf("%w: the home has changed the lease", ErrMessage)
	case !c.known && now >= lease.LetsGo(w.Sent):
		return ErrLate
	}
	first := !c.known
	c.lease, c.known, c.speaks = lease, true, true
	c.out = append(c.out, c.link.kept...)
	if first {
		return c.echo(w.Sent)
	}
	return nil
}

// echo renews the lease. An echo of an older beat, which comes late, renews nothing.
func (c *Client) echo(sent int64) error {
	if sent > c.said {
		return fmt.Errorf("%w: an echo of what was not sent", ErrMessage)
	}
	c.echoed = max(c.echoed, sent)
	return nil
}

// Tick does what is due by the clock, and returns when to call it again; 0 if never.
func (c *Client) Tick(now int64) int64 {
	if c.expired(now) || !c.known {
		return 0
	}
	ends := c.lease.LetsGo(c.echoed)
	if !c.speaks {
		return ends
	}
	if now >= c.said+beat(c.lease) {
		c.said = now
		c.out = append(c.out, Message{Beat: &Beat{Sent: now}})
	}
	return min(ends, c.said+beat(c.lease))
}

// expired reports whether the session is over, and ends it if its lease has ended.
func (c *Client) expired(now int64) bool {
	if c.over == nil && c.known && now >= c.lease.LetsGo(c.echoed) {
		c.over = fmt.Errorf("%w: the home has echoed no beat for too long", ErrExpired)
	}
	return c.over != nil
}

// Lease is for how long a session is believed to live after it was heard, and by how much two
// clocks may differ over that time. The home gives the leases, and each client holds one:
// it keeps what it has until LetsGo of the newest of its beats that was echoed. The home heard
// that beat later than it was sent.
type Lease = leases.Terms

// leaseOf is the lease that a home offers.
func leaseOf(w *Admission) Lease {
	return Lease{Lease: time.Duration(w.Length), Skew: time.Duration(w.Skew)}
}

// beat is how often a client speaks.
func beat(l Lease) int64 { return int64(l.Lease-l.Skew) / 5 }

// valid reports whether a client can keep anything by the lease.
func valid(l Lease) bool {
	const longest = 1 << 60 // so that no sum of times overflows
	return l.Lease > 0 && l.Lease < longest && l.Skew >= 0 && l.Skew <= l.Lease/2
}
