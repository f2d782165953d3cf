// Package metrics tells Prometheus what a process of an ORWL run does, by counters,
// histograms and gauges. Its [Server] shows them at a port, beside profiles and the state
// of the program. docs/reference/metrics.md lists all metrics.
//
//	registry := prometheus.NewRegistry()
//	m, err := metrics.New(metrics.Options{Registerer: registry})
//	if err != nil {
//		return err
//	}
//	rt, err := orwl.New(orwl.Options{Observers: []orwl.Observer{m}})
//	if err != nil {
//		return err
//	}
//	m.Watch(rt)
//	s, err := metrics.Serve(ctx, metrics.ServerOptions{Address: "127.0.0.1:0", Gatherer: registry, Ready: m.Ready})
//	if err != nil {
//		return err
//	}
//	defer s.Close() // curl http://ADDRESS/metrics, with the address that s.Address returns
//	rt.Task("count").Each(3, func(int) error { return nil })
//	if err := rt.Run(ctx); err != nil {
//		return err
//	}
//	families, err := registry.Gather()
//	fmt.Println(len(families) > 10, err)
//	// Output:
//	// true <nil>
//
// A run on several nodes gives Options.Node to both, its runtime to [Metrics.Life], or its nodes to [Metrics.Nodes], and the registry
// to nodes.Network, whose libp2p counts there, too.
//
// # What it costs
//
// Without a Metrics, nothing. With one, a hand-over between tasks that do nothing else takes
// up to 5 % longer. Each place counts in memory of its own, and a scrape adds up. Clocks
// cost more than that, so only some accesses are timed: the quicker they follow one another,
// the fewer (watch.go). A glance every few milliseconds sees the waits without times
// (watch.go). Counters are exact. Histograms of quick accesses are estimates.
//
// # What is bound
//
// No label grows with the program, with two exceptions: task, which Options.Tasks turns on,
// and lock, whose values the program gives. At most 16 grids have the label grid, and at
// most Options.Contended resources the label resource.
//
// # Locks
//
// A scrape and a glance hold the mutex of Metrics, and then take the mutexes of a node's
// lanes or of a mirror. Metrics.Observe takes it when accesses are declared, with the runtime
// locked, and when tasks begin and end, never during accesses. So a scrape inspects the
// runtimes before it takes the mutex.
package metrics
