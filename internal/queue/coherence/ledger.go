package coherence

import (
	"errors"

	"github.com/orwl/go-orwl/internal/tally"
)

// The errors by which a grant tells of an earlier holder.
var (
	// ErrPriorHolderLost says that a writer failed or was lost. Its write is not there.
	ErrPriorHolderLost = errors.New("resource: the writer before failed or was lost, its bytes are discarded: the last committed ones are here")
	// ErrPoisoned says that a writer failed or was lost, and that there was no commit
	// since. The bytes may be half written.
	ErrPoisoned = errors.New("resource: poisoned by a writer that failed or was lost: write all of it anew")
)

// Prior tells what happened to the writer before.
//
// The bytes of a lost or failed writer are never committed. If the writer is on another node, the home still has the last
// committed bytes. A writer at the home changes the bytes in place: the half-written bytes
// become a version of their own, so that all nodes have the same bytes, and every grant of them tells that they are
// poisoned, until the next commit.
type Prior uint8

const (
	// PriorReleased: it has released.
	PriorReleased Prior = iota
	// PriorLost: it failed or was lost; see ErrPriorHolderLost.
	PriorLost
	// PriorPoisoned: it failed or was lost, without a commit since; see ErrPoisoned.
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

// Ledger is what the home of a resource records of its grants: the version of the
// bytes, the fence, and whether a writer was lost. One ledger serves the accesses of
// the home's own node and those that [Home] grants to mirrors. On a mirror's node it holds
// the stamp of the last grant.
//
// Only the holder of the resource for writing, or the code that hands the resource
// over, changes the ledger. These follow one another, so the ledger has no lock of its
// own. There is one exception: the loss of a reader raises the fence while other
// readers may look at it. So the fence is atomic.
//
// The note of a lost writer stays until the next writer has released, because that writer
// may ask for it while it holds.
type Ledger struct {
	// Only the one writer that holds the resource writes version and fence. Every
	// holder reads them.
	version tally.Count // others read it and the fence for reports
	fence   tally.Count
	prior   Prior
}

// Grant is the stamp of a grant that its holder gets now. Call it once for each writer.
// The readers of a group may share one.
func (l *Ledger) Grant(m Mode) Stamp {
	if m == Write {
		l.fence.Inc()
	}
	s := Stamp{Version: l.version.Own(), Fence: l.fence.Own(), Prior: l.prior}
	if m == Write {
		l.Told()
	}
	return s
}

// Seen is the version and the fence, for those who do not hold the resource.
func (l *Ledger) Seen() (version, fence uint64) { return l.version.Load(), l.fence.Load() }

// Copy takes the stamp of a grant from the home. Readers of this node may look at the
// ledger meanwhile: a grant beside them has the same stamp.
func (l *Ledger) Copy(s Stamp) {
	if l.version.Own() != s.Version || l.prior != s.Prior {
		l.version.Set(s.Version)
		l.prior = s.Prior
	}
	if l.fence.Own() != s.Fence {
		l.fence.Set(s.Fence)
	}
}

// Told forgets a lost writer after its successor was told.
func (l *Ledger) Told() {
	if l.prior == PriorLost {
		l.prior = PriorReleased
	}
}

// Raise increases the fence for the next writer.
func (l *Ledger) Raise() { l.fence.Inc() }

// Commit counts a write, which the holder has finished, and returns its version. At a mirror,
// the home will commit it.
func (l *Ledger) Commit() uint64 {
	l.version.Inc()
	l.prior = PriorReleased
	return l.version.Own()
}

// Lose notes that a holder was lost, or a writer has failed. Poison from before stays.
func (l *Ledger) Lose(m Mode) {
	l.fence.Inc()
	if m == Write && l.prior != PriorPoisoned {
		l.prior = PriorLost
	}
}

// Poison notes that the bytes are half written. They become a version that every grant
// calls poisoned.
func (l *Ledger) Poison() {
	l.version.Inc()
	l.prior = PriorPoisoned
}

// Version is the version of the bytes, for a holder.
func (l *Ledger) Version() uint64 { return l.version.Own() }

// Fence is the fence of the last grant, for a holder. While a reader holds, the loss of
// another reader of its group raises the fence, so any goroutine may write it.
func (l *Ledger) Fence() uint64 { return l.fence.Load() }

// Prior is what happened to the writer before, for a holder.
func (l *Ledger) Prior() Prior { return l.prior }
