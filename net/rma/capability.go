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

// Immediate is the capability of a window whose operations are complete for every rank when
// they return: Flush and FlushAll do nothing.
type Immediate interface {
	Window

	// Immediate marks the capability.
	Immediate()
}

// Considerate is the capability of a window that keeps a lock out of convoys. In a
// convoy each turn of a lock costs a sleep, because all ranks wait in its queue and
// sleep there. It forms where ranks outnumber processors.
//
// The window knows how its rank waits and when, and decides for how long the rank keeps
// away from the lock. The lock reports two events and nothing else.
type Considerate interface {
	Window

	// HandedOver reports that the rank has handed the lock over to a rank that waits
	// for it.
	HandedOver()

	// Returns reports that the rank comes for the lock again, and is not in its queue
	// yet. Call it if the rank has handed over since the last call, or if it has had
	// as many turns as the last call said. turns is how many it has had since then.
	//
	// It may let other ranks run before it returns. Call it again after so many turns
	// though the rank does not hand over; never, if again is 0.
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
