// Package meter measures a [model.Model] on any fabric: what each kind of window operation costs at each level of the machine
// tree, and what it costs to wake a rank.
//
//	m, err := meter.New(fabric) // once in each process
//	...
//	begin := time.Now()
//	machine, err := m.Measure(ctx, window, func() time.Duration { return time.Since(begin) })
//
// The clock is the caller's, because the simulator has its own.
package meter
