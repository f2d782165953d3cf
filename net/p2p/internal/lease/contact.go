package lease

import (
	"sync/atomic"

	"github.com/orwl/go-orwl/internal/leases"
	"github.com/orwl/go-orwl/net/wire"
)

// Terms are what all nodes of a run have agreed on.
type Terms = leases.Terms

// Contact is what a node knows of a peer by heartbeats. Each of the two is a holder of
// things that the other has lent to it, and a home of things that it has lent. All times are by the node's own
// clock, which never jumps and is above 0.
//
//	node   Says ──── beat ────▶ Takes   peer: heard
//	node   Takes ◀── echo ───── Says    peer
//	node: echoed
//
// A node says no echo of a beat before it has noted that the peer was heard. So whatever a
// holder concludes from an echo, the home knows already.
type Contact struct {
	heard  atomic.Int64 // when something was heard of the peer
	echoed atomic.Int64 // when the newest beat was sent that the peer has echoed
	proved atomic.Int64 // the newest of this node's words that the peer has shown to have heard
	newest atomic.Pointer[beat]

	// touched is when a stream was known to carry both ways: by an echo, or by hellos.
	touched atomic.Int64
}

// beat is one of the peer's: when it was sent by the peer's clock, and when it came.
type beat struct {
	sent uint64
	came int64
}

// Hears notes a sign of life.
func (c *Contact) Hears(now int64) { raise(&c.heard, now) }

// Touches notes that a stream carries both ways.
func (c *Contact) Touches(now int64) { raise(&c.touched, now) }

// Stalls is when a node tries to reach the peer anew: see Terms.Stalls.
func (c *Contact) Stalls(t Terms) int64 { return t.Stalls(max(c.touched.Load(), c.Echoed())) }

// Answered notes that the peer has heard what was sent at that time.
func (c *Contact) Answered(sent int64) { raise(&c.echoed, sent) }

// Proves notes that the peer has answered what was sent at that time.
func (c *Contact) Proves(sent int64) { raise(&c.proved, sent) }

// Says is a beat to the peer.
func (c *Contact) Says(now int64) wire.Beat {
	f := wire.Beat{Sent: uint64(now)}
	if b := c.newest.Load(); b != nil {
		f.Echo, f.Held = b.sent, uint64(max(0, now-b.came))
	}
	return f
}

// Takes notes a beat of the peer. If it echoes a newer beat than any before, trip is how long
// the two took on their way. A beat that echoes what was not sent yet is not good.
func (c *Contact) Takes(f wire.Beat, now int64) (trip int64, newer, good bool) {
	echo := int64(f.Echo)
	if echo < 0 || echo > now {
		return 0, false, false
	}
	c.Hears(now)
	c.newest.Store(&beat{f.Sent, now})
	c.Proves(echo)
	if echo <= c.echoed.Load() {
		return 0, false, true
	}
	c.Answered(echo)
	return max(0, now-echo-int64(f.Held)), true, true
}

// Forgive does not count some time as silence of the peer: this node did not listen.
func (c *Contact) Forgive(late, now int64) { raise(&c.heard, min(now, c.heard.Load()+late)) }

// Heard is when something was heard of the peer.
func (c *Contact) Heard() int64 { return c.heard.Load() }

// Echoed is when the newest beat was sent that the peer has echoed.
func (c *Contact) Echoed() int64 { return c.echoed.Load() }

// Suspected reports whether the peer may have given this node up. A holder keeps nothing of
// the peer's then.
func (c *Contact) Suspected(t Terms, now int64) bool { return now >= t.LetsGo(c.Echoed()) }

// Sure reports whether the peer, at this time, has not given this node up by silence, nor anyone by it: the peer has
// shown that it heard what was sent less than a lease ago. When a stream is opened, this node counts as heard before it
// has such a proof, and is not sure yet. So a peer that has heard this node at a time, or never, knows when
// this node is not sure any more, as Lapsed says.
func (c *Contact) Sure(t Terms, now int64) bool {
	proved := c.proved.Load()
	return proved > 0 && now < t.LetsGo(proved)
}

// Lapsed reports whether the peer was silent for so long that it has let go of everything.
func (c *Contact) Lapsed(t Terms, now int64) bool { return now >= t.GivesUp(c.Heard()) }

// raise sets a to v, unless it is greater.
func raise(a *atomic.Int64, v int64) {
	for {
		old := a.Load()
		if v <= old || a.CompareAndSwap(old, v) {
			return
		}
	}
}
