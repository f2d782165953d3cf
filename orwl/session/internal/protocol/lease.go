package protocol

// Lease is for how long a session is believed to live after it was heard, and by how much two
// clocks may differ over that time. The unit is the nanosecond.
type Lease struct{ Length, Skew int64 }

// ends is when the home ends a session that it has heard last at a time of its own clock.
func (l Lease) ends(heard int64) int64 { return heard + l.Length + l.Skew }

// keeps is until when a client keeps what it holds, if the newest of its beats that was echoed
// was sent at a time of its own clock. The home heard that beat later than that. So the home
// ends the session two skews later, or more.
func (l Lease) keeps(sent int64) int64 { return sent + l.Length - l.Skew }

// beat is how often a client speaks.
func (l Lease) beat() int64 { return (l.Length - l.Skew) / 5 }

// valid reports whether a client can keep anything by the lease.
func (l Lease) valid() bool {
	const longest = 1 << 60 // so that no sum of times overflows
	return l.Length > 0 && l.Length < longest && l.Skew >= 0 && l.Skew <= l.Length/2
}
