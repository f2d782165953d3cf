package resource

import (
	"errors"
	"fmt"
)

// What a grant tells of the holders before it.
var (
	// ErrPriorHolderLost says that a writer was lost: its write is not there.
	ErrPriorHolderLost = errors.New("resource: the writer before was lost, its bytes are discarded: the last committed ones are here")
	// ErrPoisoned says that a writer was lost and nobody has written since.
	ErrPoisoned = errors.New("resource: poisoned by a writer that was lost: write it anew")
)

// Policy is what the loss of a writer does to a resource. What the writer had not
// released is discarded in any case.
type Policy uint8

const (
	// Discard goes on with the last committed bytes, and tells everybody up to the
	// next writer.
	Discard Policy = iota
	// Poison does too, and tells everybody until somebody has written.
	Poison
	// Abort ends the resource: nobody is granted any more.
	Abort
)

// Prior is what became of a writer before.
type Prior uint8

const (
	// PriorReleased: it has released.
	PriorReleased Prior = iota
	// PriorLost: it was lost; see ErrPriorHolderLost.
	PriorLost
	// PriorPoisoned: it was lost and nobody has written since; see ErrPoisoned.
	PriorPoisoned
)

func (p Prior) String() string {
	return [...]string{"released", "prior holder lost", "poisoned"}[min(p, PriorPoisoned)]
}

// Stamp is what every grant carries.
type Stamp struct {
	Version uint64 // of the bytes
	Fence   uint64 // of the grant
	Prior   Prior
}

// Err is nil, ErrPriorHolderLost or ErrPoisoned.
func (s Stamp) Err() error {
	switch s.Prior {
	case PriorReleased:
		return nil
	case PriorLost:
		return ErrPriorHolderLost
	}
	return ErrPoisoned
}

// LedgerOptions are what a ledger begins with.
type LedgerOptions struct {
	// Policy is what the loss of a writer does. The default is Discard.
	Policy Policy
	// Epoch is the home's life, from 1, which is the default; below 1<<32.
	Epoch uint64
	// Version is that of the bytes that the home has already. The default is 0.
	Version uint64
}

func (o LedgerOptions) withDefaults() LedgerOptions {
	if o.Epoch == 0 {
		o.Epoch = 1
	}
	return o
}

func (o LedgerOptions) validate() error {
	switch {
	case o.Policy > Abort:
		return fmt.Errorf("resource: LedgerOptions.Policy is %d: want Discard, Poison or Abort", o.Policy)
	case o.Epoch >= 1<<32:
		return fmt.Errorf("resource: LedgerOptions.Epoch is %d: want 1 to %d", o.Epoch, uint32(1<<32-1))
	}
	return nil
}

// Ledger is what the home of a resource writes down of its grants: the version of
// the bytes, the fence, and whether a writer was lost. It is there once, for the
// accesses of the home's own node as for those that [Home] grants to mirrors.
//
// Only whoever has the resource for writing, or hands it to its next holders,
// changes it, and those follow one another; so it has no lock of its own. The one
// exception is the loss of a reader, which raises the fence: who shares a ledger
// between goroutines orders Lose with Grant.
type Ledger struct {
	o       LedgerOptions
	stamp   Stamp
	aborted bool
}

// NewLedger makes a ledger. Fences of different epochs differ.
func NewLedger(o LedgerOptions) (*Ledger, error) {
	o = o.withDefaults()
	if err := o.validate(); err != nil {
		return nil, err
	}
	return &Ledger{o: o, stamp: Stamp{Version: o.Version, Fence: (o.Epoch - 1) << 32}}, nil
}

// Grant is the stamp of a grant that is handed to its holder now: once for each
// writer; readers of a group may share one.
func (l *Ledger) Grant(m Mode) Stamp {
	if m == Read {
		return l.stamp
	}
	l.stamp.Fence++
	s := l.stamp
	if s.Prior == PriorLost {
		l.stamp.Prior = PriorReleased
	}
	return s
}

// Commit counts a write, which the holder has finished, and returns its version.
func (l *Ledger) Commit() uint64 {
	l.stamp.Version++
	l.stamp.Prior = PriorReleased
	return l.stamp.Version
}

// Lose notes that a holder was lost.
func (l *Ledger) Lose(m Mode) {
	l.stamp.Fence++
	switch {
	case m == Read:
	case l.o.Policy == Abort:
		l.aborted = true
	case l.o.Policy == Poison:
		l.stamp.Prior = PriorPoisoned
	default:
		l.stamp.Prior = PriorLost
	}
}

// Version is that of the bytes.
func (l *Ledger) Version() uint64 { return l.stamp.Version }

// Epoch is the home's life.
func (l *Ledger) Epoch() uint64 { return l.o.Epoch }

// Aborted reports whether the resource is at its end.
func (l *Ledger) Aborted() bool { return l.aborted }
