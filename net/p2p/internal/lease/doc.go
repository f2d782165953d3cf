// Package lease decides what a node may still keep when it hears nothing. A home that gives a
// node up, and a holder that lets go, ask here and nowhere else. The sums, and the inequality
// that they keep, are in internal/leases.
//
//	contact.go  what a node knows of a peer by its heartbeats
//	tenure.go   more time for a peer whose process the home can see
//
// # New streams
//
// A stream that takes the place of a broken one renews the lease before older messages have come: the answer to a hello
// counts as an echo, and the frames that the broken stream has lost follow it. So an echo does not say that the holder has
// taken all that the home has said before. Nothing here needs that. A home takes back by the clock only all that it has
// lent to a peer, and only when that peer is gone for good. From then on it answers no hello and says no beat. A home
// that asks a living peer to give something back, such as a deferred release, waits for it. A home that takes back one thing from a
// holder that lives, by the time of a message, needs an echo behind that message: package session does so.
//
// The package is pure: it is told what time it is. So its tests play two nodes whose clocks
// drift as far as they may.
//
// A Contact may be used by any goroutine. A Tenure belongs to one.
package lease
