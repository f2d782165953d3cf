// Package monitor shows a node of a program to others while it runs: metrics for Prometheus, profiles and
// the state of its runtime, at the port that the flag -metrics names. A nil Monitor shows nothing and costs
// nothing, so a program calls it without asking whether there is one.
//
//	e, err := monitor.New(monitor.Options{Address: o.metrics, Place: place})
//	...
//	defer e.Close()
//	e.Open(log)
//	err = orwl.Run(ctx, orwl.Options{Observers: e.Observers()}, func(ctx context.Context, rt *orwl.Runtime) error {
//		e.Watch(rt)
//		...
//	})
package monitor
