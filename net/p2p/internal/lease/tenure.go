package lease

import (
	"errors"

	"github.com/orwl/go-orwl/net/p2p/internal/loan"
)

// Tenure is what a home does about a peer that is silent and that the launcher vouches
// for: one launcher has started both nodes on this machine, so the kernel tells the home
// whether the peer's process runs.
//
//	heard ──▶ quiet ──┬─ it runs ─────▶ slow     it keeps what it holds
//	   ▲              ├─ it is stopped ▶ notice ──────────────────────▶ lost
//	   │              └─ it has ended ────────────────────────────────▶ lost
//	   └── it is heard, or seen to run: any notice is withdrawn
//
// The rule that both sides follow:
//
//	home     loses a silent peer only after it has given notice, for Terms.Notice.
//	holder   keeps what it holds, after Lease-Skew without an echo, as long as it
//	         finds no notice. It looks at every beat, and at each use.
//
// The notice is a word in the home's arena, which the holder maps. So no notice is late,
// whatever the network and the processors do.
//
// Proof that the holder lets go first. Let the home lose the holder at time l. The notice
// has stood since l-Notice or before, because the home reads its clock after it has
// written the word. So the last look without a notice was before that. The next look was
// MostBeat later at most, by the holder's clock, and that is l or before: see Terms.Notice.
// A holder that is stopped in between looks at its next use or timer; what it
// writes before that comes too late, and the home refuses it by its fence, as ever.
//
// The home never goes beyond what it would grant: it only waits longer for a peer that
// runs. Any other loss, such as one that node 0 tells, is in the same word at once.
type Tenure struct {
	notice int64 // when the peer was given notice, 0 if it was not
	slow   bool
}

// Witness is how a home sees a peer's process, and reaches it, without the network.
type Witness interface {
	Now() int64
	Condition() loan.Condition
	Give(notice bool) // gives notice, or withdraws it
}

// Why a peer is lost.
var (
	ErrStopped = errors.New("nothing was heard of it for lease and skew, and its process is stopped")
	ErrEnded   = errors.New("its process has ended")
)

// Slow reports whether the peer was silent for Lease+Skew, and runs.
func (t *Tenure) Slow() bool { return t.slow }

// Look takes one look at a peer that was heard at a time. It returns why the peer is
// lost, or nil.
func (t *Tenure) Look(terms Terms, heard int64, w Witness) error {
	now := w.Now()
	silent := now - heard
	over := now >= terms.GivesUp(heard)
	if silent < terms.Quiet() {
		t.keep(w)
		t.slow = false
		return nil
	}
	switch w.Condition() {
	case loan.Ended:
		return ErrEnded
	case loan.Runs:
		t.keep(w)
		t.slow = over
		return nil
	}
	if t.notice == 0 {
		w.Give(true)
		t.notice = w.Now() // the word is written
		return nil
	}
	if over && now-t.notice >= terms.Notice() {
		return ErrStopped
	}
	return nil
}

// Next is when a look may bring something new, if the peer stays silent. A time that is
// over means that each look may.
func (t *Tenure) Next(terms Terms, heard int64) int64 {
	if t.notice == 0 {
		return heard + terms.Quiet()
	}
	return max(terms.GivesUp(heard), t.notice+terms.Notice())
}

// keep withdraws the notice, if there is one.
func (t *Tenure) keep(w Witness) {
	if t.notice != 0 {
		w.Give(false)
		t.notice = 0
	}
}
