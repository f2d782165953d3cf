// Package lab is the lock laboratory: the benchmarks of the papers, written once, for every
// lock and every window.
//
// A [Benchmark] says what a rank does in one iteration. A [Case] is a benchmark, a lock, a
// window, a machine and a length. [Case.Setup] allocates what the case needs, and
// [Program.Play] is one rank's part in one repeat. It needs a window and a [Clock] and nothing
// else. So the same text is measured on goroutines, processes and nodes, and predicted in the
// simulator's virtual time. Package arena does both.
//
//	program, err := c.Setup(fabric, contender, witness)
//	...
//	sample, err := program.Play(ctx, window, clock, repeat) // by each rank
//	...
//	result := lab.Summarize(c, samples) // of all ranks and repeats
//
// # How it measures
//
// Each rank runs until its own clock says that the time is over. All ranks begin at a fence.
// The first tenth of the time warms up and does not count. A [Sample] has what one rank did in
// one repeat. [Summarize] makes a [Result] of the samples: the median over the repeats, and its
// 95 % confidence interval.
//
// A reading of the clock costs more than a free lock. So a rank times only every n-th
// iteration, where n grows while the rank warms up until the readings take less than about 5 %
// of the time. Only timed iterations count for percentiles of waits.
//
// # What it checks
//
// A [Witness] sees each holder come and go, while the benchmark measures. Two holders that
// exclude each other are an [*ExclusionError]. A [Probe] knows what a rank does now, so that a
// hang ends with a report.
package lab
