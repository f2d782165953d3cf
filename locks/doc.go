// Package locks is the locks that resources stand on: spin locks, queue locks,
// cohort locks, trees of queues and topology-aware reader-writer locks, each
// written once and the same for goroutines, processes, machines and the
// simulator.
//
// # Getting one
//
// [All] is the table, one [Spec] for each lock; [ByName] finds a row. A Spec makes
// a [Lock] for all ranks of a fabric, and each rank gets its side of it by its
// window:
//
//	spec, _ := locks.ByName("C-MCS-HEM")
//	lock, err := spec.New(fabric, locks.Options{})
//	m := lock.At(window)
//	if err := m.Acquire(ctx); err != nil { ... }
//	defer m.Release()
//
// A row of kind [ReaderWriter] makes handles that are also an [RWMutex]. What else
// a handle can do is asked by small interfaces: [Tryer], [ReadTryer], [Cohort],
// [Oblivious], [Counter]. A program of goroutines without ranks uses
// [NewLocker] or [NewRWLocker].
//
// # Which one
//
//   - FIFO among ranks that share memory: MCS.
//   - many locks, little memory: HEM, one word for each further lock.
//   - ranks on several sockets or machines: C-MCS-MCS or C-MCS-HEM for two
//     levels, HMCS for more.
//   - mostly readers: RMA-RW; with Options.StepBack where there are more goroutines
//     than processors.
//   - no order needed, short sections: TTS.
//
// `go run ./cmd/orwl locks` prints the table with what each takes and costs.
//
// # How they are made
//
// An algorithm is written against words (memory.go). A word is reached by an
// atomic instruction where ranks share memory, and by an operation of the window
// elsewhere, always if Options.Operations says so. The simulator, which has no
// shared memory and delays whatever nobody flushed, therefore verifies the weaker
// form of the same code.
//
//	mutex, hmcs, cohort, rmaRW     handles: the rules that all locks share (seat)
//	tas, ticket, queue, clh, ...   cores: the algorithms
//	lone                           the way of who meets nobody, past the cores
//	memory, word                   direct or by operations
//
// An exclusive lock is a core in a mutex; a cohort lock is two cores. A core
// passes a number, the grant, to the next holder, which is how the count of
// hand-overs travels inline.
//
// # Ranks that come again at once
//
// A lock that is handed to another processor with every turn costs several times what the
// turn does, and one that is handed from sleeper to sleeper costs a sleep, though hardly
// anybody would have to wait if ranks came for it only while they run. One that comes again
// the moment it has handed on therefore lets the next one be for a moment, if that one runs,
// or stays away until those who wait have had their turns, if they sleep; and where ranks
// outnumber processors, who has had many turns in a row rests. Meanwhile whoever meets nobody
// goes alone. All that is before a rank queues up: the order of a queue is never touched. See
// [rma.Considerate].
//
// # Failure
//
// A context that ends before a rank has queued up ends the acquire; afterwards
// only where Spec.Aborts says so. A window's failure breaks the lock for good:
// every later acquire is a [*BrokenError], and nobody ever becomes a second
// holder.
package locks
