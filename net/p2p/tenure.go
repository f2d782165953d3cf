package p2p

import "github.com/orwl/go-orwl/net/p2p/internal/loan"

// tenure is what a home does about a peer that is silent and that the launcher vouches
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
//	home     loses a silent peer only after it has given notice, for Options.notice.
//	holder   keeps what it holds, after Lease-Skew without an echo, as long as it
//	         finds no notice. It looks at every beat, and at each use.
//
// The notice is a word in the home's arena, which the holder maps. So no notice is late,
// whatever the network and the processors do.
//
// Proof that the holder lets go first. Let the home lose the holder at time l. The notice
// has stood since l-notice or before, because the home reads its clock after it has
// written the word. So the last look without a notice was before l-notice. The next look
// was one beat later at most, by the holder's clock. A beat is at most (Lease-Skew)/2,
// and notice is that and 2*Skew. So the holder let go 2*Skew before l, as it does by the
// lease alone. A holder that is stopped in between looks at its next use or timer; what it
// writes before that comes too late, and the home refuses it by its fence, as ever.
//
// The home never goes beyond what it would grant: it only waits longer for a peer that
// runs. Any other loss, such as one that node 0 tells, is in the same word at once.
type tenure struct {
	notice int64 // when the peer was given notice, 0 if it was not
	slow   bool  // it was silent for Lease+Skew, and runs
}

// witness is how a home sees a peer's process, and reaches it, without the network.
type witness interface {
	now() int64
	condition() loan.Condition
	give(notice bool) // or withdraw it
}

// neighbour is the witness of a peer whose arena this node maps.
type neighbour struct {
	*peer
	arena *loan.Mapping
}

// witness is how this node sees the peer's process, if the launcher vouches for it.
func (p *peer) witness() (neighbour, bool) {
	m := p.mapping.Load()
	return neighbour{p, m}, m != nil && p.node.options.Launched
}

func (n neighbour) now() int64                { return n.node.now() }
func (n neighbour) condition() loan.Condition { return n.arena.Condition() }

func (n neighbour) give(notice bool) {
	if a := n.node.memory.Arena(); a != nil { // else the peer has no promise
		a.Notify(n.number, notice)
	}
}

// kept reports whether a peer that sends no echo keeps its word that it gives
// this node notice first, and has given none.
func (p *peer) kept() bool {
	m := p.mapping.Load()
	return p.promises.Load() && m != nil && m.Keeps() && p.fate() == nil
}

// notice is for how long a notice stands before the peer is lost: see tenure.
func (o *Options) notice() int64 { return int64((o.Lease-o.Skew)/2 + 2*o.Skew) }

// quiet is after which silence a home looks at the peer's process: a notice that is
// given then has stood for long enough at Lease+Skew.
func (o *Options) quiet() int64 { return int64(o.Lease+o.Skew) - o.notice() }

// look takes one look at a peer that was heard at a time. It returns why the peer is
// lost, or nil.
func (t *tenure) look(o *Options, heard int64, w witness) error {
	now := w.now()
	silent := now - heard
	if silent < o.quiet() {
		t.keep(w)
		t.slow = false
		return nil
	}
	switch w.condition() {
	case loan.Ended:
		return errEnded
	case loan.Runs:
		t.keep(w)
		t.slow = silent >= int64(o.Lease+o.Skew)
		return nil
	}
	if t.notice == 0 {
		w.give(true)
		t.notice = w.now() // the word is written
		return nil
	}
	if silent >= int64(o.Lease+o.Skew) && now-t.notice >= o.notice() {
		return errStopped
	}
	return nil
}

// next is when a look may bring something new, if the peer stays silent. A time that is
// over means that each look may.
func (t *tenure) next(o *Options, heard int64) int64 {
	if t.notice == 0 {
		return heard + o.quiet()
	}
	return max(heard+int64(o.Lease+o.Skew), t.notice+o.notice())
}

// keep withdraws the notice, if there is one.
func (t *tenure) keep(w witness) {
	if t.notice != 0 {
		w.give(false)
		t.notice = 0
	}
}
