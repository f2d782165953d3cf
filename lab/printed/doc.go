// Package printed has locks as papers and programs have them, where the locks of package locks are better: steps of a
// ladder whose last step is in the table. They show what each step gains, and what a printed text costs.
//
//	lock              what it has                                  the step after it
//	D-MCS-Acc         hands over by an Accumulate                  D-MCS: a Put
//	RMA-MCS-Acc       the same, and each access is a call          RMA-MCS: a Put, and only what it needs
//	dash::Mutex-FAO   makes itself known by a FetchOp              dash::Mutex: a Put
//	CLH-printed       marks its node before it lines up            CLH: turns
//	CLH-NUMA-printed  the same                                     CLH-NUMA: turns
//	RH-printed        waiters try again and again                  RH: they wait for a change
//	HEM-printed       a release waits for the successor            HEM: no rank waits before it needs to
//	HEM-Overlap       a rank that comes again waits for it         HEM: the same
//
// Nothing breaks them: the explorer plays them as it plays the table. Texts that are wrong are in net/sim/specimen.
//
// A lock is its listing, an [algorithm], in [side], which keeps the contract of [locks.Mutex]:
//
//	for _, l := range printed.All() {
//		at, err := l.New(fabric, locks.Options{})
//		...
//		m := at(window)
//		err = m.Acquire(ctx)
//	}
//
// Waiters do not give up.
package printed
