package resource

import (
	"errors"
	"sync/atomic"
)

// SiteCounts are how often something has happened at a site.
type SiteCounts struct {
	Sent, Received    uint64 // messages
	BytesOut, BytesIn uint64 // of contents
	Replayed          uint64 // messages that were taken before
	OtherLife         uint64 // of lives that are over
	Malformed         uint64 // that no correct node sends
	Gaps              uint64 // before which too many are missing
	Unknown           uint64 // for a resource that is not declared here, and not kept
	Strays            uint64 // that were kept until it is declared

	// These count the effects of nodes that were lost, or may have been.
	Expired uint64 // grants of homes here that ended with their lease
	Fenced  uint64 // releases that came too late for homes here, known by their fence
	Revoked uint64 // grants from elsewhere that this node gave up by itself
}

type siteCounts struct {
	sent, received, bytesOut, bytesIn, replayed, otherLife, malformed, gaps, unknown, strays, expired, fenced, revoked atomic.Uint64
}

// Counts is what has happened so far.
func (s *Site) Counts() SiteCounts {
	c := &s.counts
	return SiteCounts{
		Sent: c.sent.Load(), Received: c.received.Load(), BytesOut: c.bytesOut.Load(), BytesIn: c.bytesIn.Load(),
		Replayed: c.replayed.Load(), OtherLife: c.otherLife.Load(), Malformed: c.malformed.Load(),
		Gaps: c.gaps.Load(), Unknown: c.unknown.Load(), Strays: c.strays.Load(),
		Expired: c.expired.Load(), Fenced: c.fenced.Load(), Revoked: c.revoked.Load(),
	}
}

// note counts a message that was not taken.
func (s *Site) note(err error) {
	c := &s.counts
	switch {
	case errors.Is(err, ErrReplayed):
		c.replayed.Add(1)
	case errors.Is(err, ErrOtherLife):
		c.otherLife.Add(1)
	case errors.Is(err, ErrUnknown):
		c.unknown.Add(1)
	case errors.Is(err, ErrGap):
		c.gaps.Add(1)
	default:
		c.malformed.Add(1)
	}
}
