// Package lease decides what a node may still keep when it hears nothing. A home that gives a
// node up, and a holder that lets go, ask here and nowhere else. The sums, and the inequality
// that they keep, are in internal/leases.
//
//	contact.go  what a node knows of a peer by its heartbeats
//	tenure.go   more time for a peer whose process the home can see
//
// The package is pure: it is told what time it is. So its tests play two nodes whose clocks
// drift as far as they may.
//
// A Contact may be used by any goroutine. A Tenure belongs to one.
package lease
