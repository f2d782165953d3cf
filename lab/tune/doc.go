// Package tune finds a lock and its options for a workload. A [Workload] is some cases of package
// lab. A [Search] plays candidates on the simulator, where a play costs little and has no noise.
// [Compare] then plays the best few and the default in turn, on any window.
//
//	found, err := tune.Search{Locks: lab.Locks(), Trees: trees, Budget: 150, Play: play}.Run(ctx)
//	gains, err := tune.Compare(ctx, candidates, rounds, play)
//	fmt.Println(found[0].Literal())
//
// # The search
//
// All locks play a short time with the options that are given. The best third goes on, at least
// three. Each of these descends: it takes one option after the other, and doubles or halves it while
// that helps. After each round of all options the worse half of the locks is left out. The ranges are
// those that each lock declares. The outcome depends on the workload, the machine and the seed, and
// on nothing else.
//
// # Bounds
//
// A lock that never leaves an element is the fastest, and starves all others. So a [Bounds] says how
// unfair a lock may be. A candidate beyond it loses against each one that keeps it.
package tune
