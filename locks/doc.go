// Package locks has the locks that resources stand on: spin locks, queue locks, cohort
// locks, trees of queues and topology-aware reader-writer locks. Each is written once, and
// is the same for goroutines, processes, machines and the simulator.
//
// # Getting one
//
// [All] is the table, one [Spec] for each lock; [ByName] finds a row. A Spec makes a [Lock]
// for all ranks of a fabric, and each rank gets its side of it by its window:
//
//	fabric, err := mem.New(mem.Options{Topology: topology.Flat(2)})
//	if err != nil {
//		return err
//	}
//	defer fabric.Close()
//	spec, ok := locks.ByName("C-MCS-HEM")
//	if !ok {
//		return errors.New("there is no such lock")
//	}
//	lock, err := spec.New(fabric, locks.Options{})
//	if err != nil {
//		return err
//	}
//	window, err := fabric.Window(0)
//	if err != nil {
//		return err
//	}
//	m := lock.At(window)
//	if err := m.Acquire(ctx); err != nil {
//		return err
//	}
//	defer m.Release()
//	fmt.Println("rank 0 has", spec.Name)
//	// Output:
//	// rank 0 has C-MCS-HEM
//
// A row of kind [ReaderWriter] makes sides that are also an [RWMutex], a row of kind
// [Priority] a [PriorityMutex]. [ByName] also makes locks of others: P-X-Y, R-X, CLoF-X-Y-Z, and C-RW-NP-G-L.
// Small interfaces tell what else a side can do: [Tryer], [ReadTryer], [Cohort], [Oblivious],
// [Counter], [Recoverable]. Package lockers makes a lock one for goroutines, which have no ranks.
//
// # Which one
//
//   - FIFO among ranks that share memory: MCS.
//   - Many locks, little memory: HEM, one word for each further lock.
//   - Ranks on several sockets or machines: C-MCS-MCS or C-MCS-HEM for two levels, HMCS for
//     more, or the CLoF that orwl-lab tune finds.
//   - Mostly readers: RMA-RW; with Options.StepBack where goroutines outnumber processors.
//   - Sometimes readers, sometimes writers: RMA-RW-A. On a machine of one level with
//     Options.TDC = 1.
//   - No order needed, short sections: TTS. Short sections and seldom many ranks: TTS-MCS.
//   - Some ranks matter more than others: P-HMCS-MCS, with Options.High if the others must not
//     starve.
//
// `go run ./cmd/orwl locks` prints the table with what each takes and costs.
//
// # How they are made
//
// To read one lock, read three files: lock.go, the contract; side.go, what every lock has, and
// how it reaches its words; and the lock's own file, which begins with its paper, its words,
// its invariant and its cost.
//
// An algorithm is written against words. A word is reached by an atomic instruction where
// ranks share memory, and by an operation of the window elsewhere, or always if
// Options.Operations says so. The simulator plays both: instructions, with the wake-ups that
// they need, and operations that arrive late unless they are flushed. No lock has a second
// text for speed.
//
// The parts of a cohort lock are the same algorithms. A part passes a number, the grant, to
// the next holder, which is how the count of hand-overs travels inline.
//
// # Losses
//
// R-X goes on when a rank is lost: the next owner is told ([Recoverable]). It needs a fabric whose
// windows survive, which is an option of mem and shm. The other locks break there as elsewhere.
//
// # Ranks that come again at once
//
// A lock reports that it has handed over. The window then decides whether the rank stays away
// for a moment before it comes again, because the next holder runs beside it, or because ranks
// outnumber processors. The rank is not in the queue then: the order of a queue is never
// touched. See [rma.Considerate].
//
// # Failure
//
// A context that ends before a rank has queued up ends the acquire; afterwards only where
// Spec.Aborts says so. A window's failure breaks the lock for good: every later acquire is a
// [*BrokenError], a release hands over nothing, and no rank becomes a second holder.
package locks
