package leases

import "time"

// Terms are what a home and its holders have agreed on.
//
// A holder sends a beat at time s. The home hears it at time h, and echoes it. From the two
// moments on, both are silent:
//
//	holder   s ──────── lets go                 s + Lease - Skew   by the holder's clock
//	home       h ──────────────── gives up      h + Lease + Skew   by the home's clock
//
// A home gives to others what the holder has let go, so the holder has to be first. The two
// clocks are never compared. The one assumption is that a clock is good:
//
//	while Lease passes, a clock advances by Lease-Skew at least, and Lease+Skew at most.
//
// So the holder, whose clock may be slow, lets go Lease after s at the latest. The home,
// whose clock may be fast, gives up Lease after h at the earliest:
//
//	s + (Lease-Skew) * Lease/(Lease-Skew)  =  s + Lease
//	h + (Lease+Skew) * Lease/(Lease+Skew)  =  h + Lease
//
// A beat is not heard before it is sent: s <= h. So the holder is first, and no term can be
// left out: with the slowest and the fastest clock, and a beat that takes no time, both
// happen at the same moment.
type Terms struct{ Lease, Skew time.Duration }

// LetsGo is when a holder lets go, by its clock: the home has echoed what the holder sent
// at that time, and nothing newer.
func (t Terms) LetsGo(sent int64) int64 { return sent + int64(t.Lease-t.Skew) }

// GivesUp is when a home gives up a peer that it has heard at that time, by its own clock.
func (t Terms) GivesUp(heard int64) int64 { return heard + int64(t.Lease+t.Skew) }

// Notice is for how long a notice stands before a home gives up a peer by it.
// The holder looks for a notice every MostBeat at least, by its own clock:
//
//	look    MostBeat by a slow clock    (Lease-Skew)/2 * Lease/(Lease-Skew)  =  Lease/2
//	notice  by a fast clock             (Lease+Skew)/2 * Lease/(Lease+Skew)  =  Lease/2
func (t Terms) Notice() int64 { return int64(t.Lease+t.Skew) / 2 }

// Quiet is after which silence a home gives notice: a notice that is given then has stood
// for long enough when the lease is over.
func (t Terms) Quiet() int64 { return t.GivesUp(0) - t.Notice() }

// Stalls is when a node tries to reach a peer anew, if it has been in touch with it at that
// time and not since. A shorter outage is left to the stream.
func (t Terms) Stalls(touched int64) int64 { return touched + int64(t.Lease-t.Skew)/2 }

const (
	// tries is how many times in a lease a node tries to reach a peer.
	tries = 32
	// easily is how many peers a node tries to reach at that pace.
	easily = 8
)

// Pace is the time between two tries to reach a peer, if so many peers are out of touch. More
// than a few are so because this node, or the machine, has too much to do. Then each is
// tried less often, and all together as often as a few. Try is how long a try may take. So several
// are under way if the network is slow.
//
// An outage shorter than the lease is survived if, after it, a beat, a pace and the
// handshake of a connection take less than the skew: the peer was last heard up to a beat
// before the outage.
func (t Terms) Pace(peers int) time.Duration {
	return t.Lease / tries * time.Duration(max(1, (peers+easily-1)/easily))
}

// Try is how long a try may take.
func (t Terms) Try() time.Duration { return t.Lease / 4 }

// MostBeat is how much time may pass between two beats of a node.
func (t Terms) MostBeat() time.Duration { return (t.Lease - t.Skew) / 2 }
