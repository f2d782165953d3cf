// Package inner is what other packages of this module see of package orwl, and no program needs: the requests of accesses for
// metrics and traces, snapshots for grids, a simulated disk and processor for tests.
//
// Package orwl sets the variables when the program starts. A function takes an *orwl.Runtime, an *orwl.Task, an *orwl.Access or *orwl.Options,
// as this package cannot import orwl, and panics if it gets anything else:
//
//	place := inner.OfAccess(e.Access).Place()
package inner
