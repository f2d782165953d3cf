// Package metrics tells Prometheus what a process of an ORWL run does, by counters,
// histograms and gauges. Its [Server] shows them at a port, beside profiles and the state
// of the program. docs/reference/metrics.md lists all metrics.
//
//	registry := prometheus.NewRegistry()
//	m, err := metrics.New(metrics.Options{Registerer: registry, Node: place.Node})
//	nodes, err := orwl.Join(ctx, orwl.JoinOptions{Network: nodes.Network{Registerer: registry}})
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
// Without a Metrics, nothing. With one, a hand-over between tasks that do nothing else takes
// up to 5 % longer. Each place counts in memory of its own, and a scrape adds up. Clocks
// cost more than that, so only some accesses are timed: the quicker they follow one another,
// the fewer (pace.go). A glance every few milliseconds sees the waits without times
// (glance.go). Counters are exact. Histograms of quick accesses are estimates.
//
// # What is bound
//
// No label grows with the program, with two exceptions: task, which Options.Tasks turns on,
// and lock, whose values the program gives. No metric has a resource's name as a label.
// Profiles have it with Options.Profile.
//
// # Locks
//
// A scrape and a glance hold the mutex of Metrics, and then take the mutexes of a node's
// lanes or of a mirror. Metrics.Observe takes it when accesses are declared, with the runtime
// locked, and when tasks begin and end, never during accesses. So a scrape inspects the
// runtimes before it takes the mutex.
package metrics
