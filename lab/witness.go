package lab

import (
	"fmt"

	"github.com/orwl/go-orwl/net/rma"
)

// Witness sees the holders of locks come and go, in memory that all ranks share. The locks
// under test order the accesses, so they are ordinary ones: an overlap of two holders shows as
// words that do not fit.
//
//	        owner    changes   last
//	each  ┌────────┬─────────┬──────┬─────┐
//	lock  │ rank+1 │ number  │rank+1│ ... │  one cache line
//	      └────────┴─────────┴──────┴─────┘
//
// A writer stands in owner while it holds the lock. A reader finds no owner, and the same
// number of changes when it leaves as when it came.
type Witness struct{ words []uint64 }

const (
	witnessOwner = iota
	witnessChanges
	witnessLast

	witnessLine = 8 // words
)

// WitnessWords is how many words a witness of n locks needs.
func WitnessWords(n int) int { return n * witnessLine }

// NewWitness makes a witness of words that are zero, and that all ranks of a run share.
func NewWitness(words []uint64) *Witness { return &Witness{words} }

// ExclusionError says that a lock let two ranks in that exclude each other.
type ExclusionError struct {
	Rank  rma.Rank // found it
	Other rma.Rank // the writer that held the lock, too; -1 if it is not known
	When  string
}

func (e *ExclusionError) Error() string {
	other := "a writer"
	if e.Other >= 0 {
		other = fmt.Sprintf("rank %d", e.Other)
	}
	return fmt.Sprintf("lab: exclusion broken: rank %d and %s held the lock at once (seen at the %s): the lock, or the window's order of operations, is wrong", e.Rank, other, e.When)
}

// line is the words of a lock.
func (w *Witness) line(lock int) *[witnessLine]uint64 {
	return (*[witnessLine]uint64)(w.words[lock*witnessLine:])
}

// enter notes that a rank holds a lock. It returns the writer that had the lock last, -1 if
// there was none, and what leave has to know.
func (w *Witness) enter(lock int, p rma.Rank, write bool) (last rma.Rank, changes uint64, err error) {
	l := w.line(lock)
	if owner := l[witnessOwner]; owner != 0 {
		err = &ExclusionError{p, rma.Rank(owner) - 1, "acquire"}
	}
	last, changes = rma.Rank(l[witnessLast])-1, l[witnessChanges]
	if write {
		l[witnessOwner], l[witnessLast] = uint64(p)+1, uint64(p)+1
	}
	return last, changes, err
}

// leave notes that a rank is about to release a lock.
func (w *Witness) leave(lock int, p rma.Rank, write bool, changes uint64) error {
	l := w.line(lock)
	owner := uint64(0)
	if write {
		owner = uint64(p) + 1
	}
	if l[witnessOwner] != owner || l[witnessChanges] != changes {
		return &ExclusionError{p, rma.Rank(l[witnessOwner]) - 1, "release"}
	}
	if write {
		l[witnessOwner], l[witnessChanges] = 0, changes+1
	}
	return nil
}
