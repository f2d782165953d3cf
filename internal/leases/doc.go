// Package leases has the sums of a lease: when a holder lets go that hears nothing, and when its
// home gives it up. The nodes of a run and the clients of a session use the same ones.
//
// The package is pure: it is told what time it is.
package leases
