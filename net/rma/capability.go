package rma

import "sync/atomic"

// Shared is the capability of a window whose ranks share coherent memory with
// others: atomic instructions instead of operations.
type Shared interface {
	Window

	// Direct is target's word at disp. It reports false where the process cannot
	// load and store target's memory, and when the window has failed. An address
	// out of range panics, as in any operation.
	//
	// An access of the word does not look at the window: it takes effect on a
	// window that has failed since, and a change wakes no rank.
	Direct(target Rank, disp Disp) (Word, bool)

	// Memory is target's memory from disp on, n words, as Direct is one of them: for a
	// program that excludes other ranks while it uses the words, or that uses
	// sync/atomic. The simulator has none to give, because it would not see the
	// accesses.
	Memory(target Rank, disp Disp, n int) ([]uint64, bool)

	// Notify wakes the ranks that await target's word and whose condition is
	// true. Call it after changing a Word that another rank may await.
	Notify(target Rank, disp Disp)

	// Failed becomes true when Err becomes an error. An algorithm that accesses
	// words looks at it where it decides something.
	Failed() *atomic.Bool
}

// Considerate is the capability of a window that knows whether its rank and those
// it shares memory with run at the same time, each on a processor.
//
// If they do, a lock whose holder comes back the moment it has let go travels between
// processors with every hand-over: the next one has hardly noticed when it has to let
// go again. If the last one lets the next one be for a moment, they take turns in runs,
// with as many turns each, and several times as many together.
//
// If ranks outnumber processors, a lock that is handed to one that sleeps is nobody's until
// that one runs; meanwhile all who run come and fall asleep behind it, and from then on
// every turn costs a sleep. If they stay away until those who wait have had their turns,
// the lock is free for whoever runs.
type Considerate interface {
	Window

	// HandedOver tells the window that its rank has handed something over to a rank
	// that waited for it.
	HandedOver()

	// Returns is called before the rank comes back for what it handed over, and told
	// how many turns the rank has had since the last call. It returns when other ranks
	// have had their time. again is after how many turns to call it although the rank
	// has handed over nothing: never, if 0.
	Returns(turns int) (again int)
}

// Exposer is the capability of a fabric that can show other ranks memory which
// the caller owns. A fabric between processes of one machine cannot: a process's
// private memory is private; there, Window.Attach gives memory that all reach.
type Exposer interface {
	Fabric

	// Expose makes memory part of rank p's segment until Detach. While it is
	// exposed it is accessed only as the contract says.
	Expose(p Rank, memory []uint64) (Disp, error)
}

// Labeler is the capability of a fabric that prints traces.
type Labeler interface {
	// Label names the words from disp on in traces.
	Label(disp Disp, words int, name string)
}

// Label names words of symmetric memory where the fabric prints traces.
func Label(f Fabric, disp Disp, words int, name string) {
	if l, ok := f.(Labeler); ok {
		l.Label(disp, words, name)
	}
}
