package protocol

import (
	"time"

	"github.com/orwl/go-orwl/internal/leases"
)

// Lease is for how long a session is believed to live after it was heard, and by how much two
// clocks may differ over that time. The home gives the leases, and each client holds one:
// it keeps what it has until LetsGo of the newest of its beats that was echoed. The home heard
// that beat later than it was sent.
type Lease = leases.Terms

// leaseOf is the lease that a home offers.
func leaseOf(w *Welcome) Lease {
	return Lease{Lease: time.Duration(w.Length), Skew: time.Duration(w.Skew)}
}

// beat is how often a client speaks.
func beat(l Lease) int64 { return int64(l.Lease-l.Skew) / 5 }

// valid reports whether a client can keep anything by the lease.
func valid(l Lease) bool {
	const longest = 1 << 60 // so that no sum of times overflows
	return l.Lease > 0 && l.Lease < longest && l.Skew >= 0 && l.Skew <= l.Lease/2
}
