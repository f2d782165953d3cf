// Package metrics tells Prometheus what a process of an ORWL run does: as counters,
// histograms and gauges, at a port of its own, beside profiles and a picture of who
// waits for whom. docs/metrics.md lists all there is.
//
//	registry := prometheus.NewRegistry()
//	m, err := metrics.New(metrics.Options{Registerer: registry, Node: place.Node})
//	nodes, err := orwl.Join(ctx, orwl.JoinOptions{Registerer: registry})
//	rt, err := orwl.New(orwl.Options{Nodes: nodes, Observers: []orwl.Observer{m}})
//	m.Watch(rt)
//	m.Nodes(nodes)
//	s, err := metrics.Serve(ctx, metrics.ServerOptions{Gatherer: registry, Node: place.Node, Ready: m.Ready})
//	...
//	err = rt.Run(ctx)
//	err = s.Close()
//
// # What it costs
//
// Nothing where there is no Metrics. Where there is, a hand-over between tasks that do
// nothing else takes up to 5 % longer: each place counts for itself, in memory that
// nobody else writes to, and who scrapes adds up. Clocks would take more than that,
// so that only some accesses are timed, the fewer the quicker they follow one
// another (pace.go), and waits that are not timed are looked at every few milliseconds
// (glance.go). Counters are exact, histograms are estimates where things go quickly.
//
// # What is bound
//
// No label grows with what a program does, but for task, if Options.Tasks says so, and
// lock, whose values the program gives. A resource's name is no label of a metric,
// and of a profile only if Options.Profile says so.
//
// # Locks
//
// The mutex of Metrics is held while somebody scrapes, or looks who waits; then
// those of what is looked at: a node's lanes, a mirror's. Observers take it when accesses
// are made, where the runtime is locked, and when tasks begin and end, never during
// accesses. So a runtime, which has a mutex before it, is looked at without.
package metrics
