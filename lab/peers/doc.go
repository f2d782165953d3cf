// Package peers plays the benchmarks of package lab with locks that are not ours:
//
//   - go: sync.Mutex, sync.RWMutex, and xsync's RBMutex, in goroutines. They play the text of
//     package lab itself, on the window mem.
//   - pthread: the mutex, the reader-writer lock and the spin lock of POSIX threads, in threads.
//   - ck: the locks of Concurrency Kit, in threads.
//   - pthread-shm, ck-shm: the same in processes that share memory.
//   - openmpi, mpich: MPI_Win_lock, and D-MCS, RMA-MCS and C-MCS-MCS on MPI-3 RMA, in processes.
//     The three are written here from their papers (c/mpi_queues.h), once for both libraries.
//
// A peer in C is compiled when it is opened. It plays LB, ECSB, SOB, WCSB and WARB as package
// lab does: the same work, the same share of writers, the same check of exclusion, a warm-up of
// a tenth. It differs in one thing, to its advantage: a worker does not read the clock. It ends
// when a word in memory says so.
//
//	families, err := peers.Match("openmpi")
//	p, err := families[0].Open(ctx)
//	if errors.Is(err, native.ErrMissing) {
//		fmt.Println(err) // "openmpi: not installed: Open MPI (Debian: openmpi-bin libopenmpi-dev)"
//		return nil
//	}
//	defer p.Close()
//	cases, skipped := families[0].Cases(plan)
//	samples, err := p.Play(ctx, cases[0], nil)
//	result, err := lab.Summarize(cases[0], samples)
//
// The window of a case is the name of the family.
package peers
