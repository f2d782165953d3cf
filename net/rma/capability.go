package rma

import "sync/atomic"

// Shared is the capability of a window whose ranks share coherent memory with
// others: direct loads and stores instead of operations.
type Shared interface {
	Window

	// Direct is target's memory from disp on, n words, for use with
	// sync/atomic. It reports false where target's memory cannot be reached
	// by loads and stores. Out of range panics as any operation does.
	Direct(target Rank, disp Disp, n int) ([]uint64, bool)

	// Notify wakes whoever awaits target's word and finds its condition true.
	// It follows a direct store to a word that may be awaited.
	Notify(target Rank, disp Disp)

	// Failed becomes true when Err becomes an error: what a direct access does
	// not notice by itself.
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

	// GaveWay is told by a rank that has handed something over to another one.
	GaveWay()

	// LetBe is called before the rank comes, if it has given way, and told how many turns
	// it has had since the last call. It returns when others have had their time, and
	// after how many turns it is to be called again though the rank has not given way:
	// 0 means never.
	LetBe(turns int) (again int)
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
